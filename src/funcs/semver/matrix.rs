/// Answers for [`VERSIONS`] by Helm 3.17, then by Helm 4.2, then the constraint.
const MATRIX: &str = "\
yyy----y yyy----y >=1.25-0
y-y----- y-y----- >=1.25
y-yy-y-- y-yy-y-- <1.30
y-y----- y-y----- ~1.29
y-y----- y-y----- ^1.29.0
y-y----- y-y----- 1.29.x
y-yy-y-- y-yy-y-- *
y-y----- yyy----- >=1.21-0 <1.30
yyy----- yyy----- >=1.21-0 <1.30-0
y-y----- yyy----- >=1.21, <1.30-0
y-yy---- yyyyy-yy >=1.2.3-alpha <2
y-yy-y-- y-yy-y-- >=1.0 , <2
---y-y-- ---y-y-- 1.2.x || >3
-------- -------- ^0
y-yy-y-- y-yy-y-- ~1
y-y----- y-y----- !=1.2
---y-y-- ---y-y-- =<1.2
---y-y-- ---y-y-- 1.2 - 1.4
---y---- ---yy-y- 1.2.3-a - 1.4
---y-y-- ---y-y-- v1.2
---y---- ---y---- =1.2.3+b
yyyy--yy yyyy--yy >1.2.3-beta.2
---y-y-- ---y-y-- ~>1.2
yyyyy-y- yyyyy-y- ^1.2.3-alpha
yyyyyyyy yyyyyyyy !=1.2.3-alpha
yyyyyyyy yyyyyyyy >=0.0.0-0
yyyyyyy- yyyyyyy- 1.x-0
-------- -------- ^0.0.3
---y---- ---y---- 2 || 1.2.3
-------- -------- >1.2 <1.3
y-yy-y-- yyyyyyyy >=1.2-0 !=1.3";
