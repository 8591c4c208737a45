//! Go's integer types.

/// The type of an integer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub enum IntType {
    Int,
    Int8,
    Int16,
    Int32,
    Int64,
    Uint,
    Uint8,
    Uint16,
    Uint32,
    Uint64,
}

impl IntType {
    /// Go's name.
    pub fn name(self) -> &'static str {
        match self {
            IntType::Int => "int",
            IntType::Int8 => "int8",
            IntType::Int16 => "int16",
            IntType::Int32 => "int32",
            IntType::Int64 => "int64",
            IntType::Uint => "uint",
            IntType::Uint8 => "uint8",
            IntType::Uint16 => "uint16",
            IntType::Uint32 => "uint32",
            IntType::Uint64 => "uint64",
        }
    }

    /// Whether it is one of the unsigned types.
    pub fn is_unsigned(self) -> bool {
        matches!(self, IntType::Uint | IntType::Uint8 | IntType::Uint16 | IntType::Uint32 | IntType::Uint64)
    }
}
