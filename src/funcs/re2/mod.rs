//! Regular expressions as Go understands them.
