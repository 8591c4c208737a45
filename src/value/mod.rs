//! Template values: Go's kinds, with the origins of each value.
//!
//! A [`Value`] is opaque and cheap to clone. Its origins say which facts could have made it another value; a text
//! additionally knows the origins of its byte ranges ([`Text::marks`]). Maps are shared and mutable, as in Go
//! (`set`, `unset` and `merge` change them in place); lists are not.

pub mod items;
pub mod number;
pub mod origin;
pub mod text;

use std::cell::{Ref, RefCell, RefMut};
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

use crate::base::version::HelmVersion;
pub use items::Items;
pub use number::IntType;
pub use origin::{OriginId, OriginSet, Origins};
pub use text::{Text, TextBuilder};

/// A template value with its origins.
#[derive(Clone)]
pub struct Value {
    repr: Repr,
    /// Facts that could have made this another value (branches it depended on included).
    pub origins: OriginSet,
    /// The place this value *is* (a lookup's field, a leaf of values), also when it is missing there; else none.
    pub at: OriginId,
}

/// What a value is, by Go kind.
#[derive(Clone)]
pub enum Repr {
    /// Go's nil: a missing key, a null, an absent argument.
    Nil,
    /// `bool`
    Bool(bool),
    /// Every integer kind; unsigned 64-bit values above `i64::MAX` wrap and are read through their type.
    Int(i64, IntType),
    /// `float64`
    Float(f64),
    /// `string`
    Str(Text),
    /// A slice.
    List(Rc<List>),
    /// A map with string keys.
    Map(Map),
    /// A Go value with fields or methods (`.Files`, `.Capabilities`, a time, a version…).
    Native(Rc<dyn Native>),
    /// In an optimistic render: something the cluster does not hold yet, whatever it will be.
    Hole(Rc<Hole>),
}

/// A slice and the type of its elements.
#[derive(Debug)]
pub struct List {
    /// The elements.
    pub items: Items,
    /// Element type.
    pub ty: ListType,
}

/// Element types of slices that templates can meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListType {
    /// `[]interface {}`
    Any,
    /// `[]string`
    Str,
    /// `[]int`
    Int,
    /// `[]uint8`
    Byte,
    /// `[]map[string]interface {}`
    Maps,
    /// `[][]interface {}`
    Lists,
    /// A slice of another type, by the name of the slice's type (`[]*chart.Maintainer`).
    Named(&'static str),
    /// Such a slice that is nil.
    NilNamed(&'static str),
    /// `[]interface {}` that is nil.
    Nil,
    /// `[]string` that is nil.
    NilStr,
}

impl ListType {
    /// Whether the slice is nil: empty as any, but JSON and YAML write it as `null`, and it equals no empty list.
    pub fn is_nil(self) -> bool {
        matches!(self, ListType::Nil | ListType::NilStr | ListType::NilNamed(_))
    }
}

/// A shared, mutable map with string keys, iterated in byte order of the keys.
#[derive(Clone)]
pub struct Map {
    entries: Rc<RefCell<BTreeMap<Text, Value>>>,
    ty: MapType,
}

/// Go types of maps that templates can meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MapType {
    /// `map[string]interface {}`
    Any,
    /// `chartutil.Values` (Helm 3), `common.Values` (Helm 4): `.Values` and the top level of the dot.
    Values,
    /// `map[string]string`
    Str,
    /// A nil `map[string]interface {}`: no keys, and none can be set; JSON's null.
    Nil,
    /// A nil `map[string]string`: no keys, and JSON's null.
    NilStr,
}

/// A method: its name, and the Go type names of its parameters.
pub type Method = (&'static str, &'static [&'static str]);

/// A Go value that is neither a scalar nor a plain list or map.
pub trait Native {
    /// What `%T` prints.
    fn type_name(&self, helm: HelmVersion) -> String;
    /// Go's kind name: `struct`, `ptr`, `map`, `slice`, `func`, `int64`…
    fn kind(&self) -> &'static str;
    /// A field (or map entry) of that name.
    fn field(&self, name: &str) -> Option<Value> {
        let _ = name;
        None
    }
    /// The methods.
    fn methods(&self) -> &'static [Method] {
        &[]
    }
    /// The parameters of a method, if there is one of that name.
    fn signature(&self, name: &str) -> Option<&'static [&'static str]> {
        self.methods().iter().find(|(method, _)| *method == name).map(|(_, params)| *params)
    }
    /// Calls a method of [`Native::methods`], with as many arguments as it has parameters. The error is the text behind
    /// `error calling NAME: `, unless it is one of the argument errors of the caller.
    fn call(&self, name: &str, args: &[Value], origins: &Origins) -> Result<Value, String> {
        let _ = (args, origins);
        Err(format!("unknown method {name}"))
    }
    /// What `%v` prints (`plus` and `sharp` are the flags).
    fn print(&self, plus: bool, sharp: bool) -> String;
    /// Names and values of the fields of a Go struct that prints them, in Go's order; none for what has a text of its own.
    fn members(&self) -> Option<Vec<(&'static str, Value)>> {
        None
    }
    /// The member that is a struct without a name of its own.
    fn embedded(&self) -> Option<&'static str> {
        None
    }
    /// The plain data that it marshals as, if it does.
    fn data(&self) -> Option<Value>;
    /// The list or map that `range`, `index` and `len` see; structs have none, whatever they marshal as.
    fn elements(&self) -> Option<Value> {
        let data = self.data().filter(|_| !matches!(self.kind(), "struct" | "ptr"))?;
        matches!(data.repr(), Repr::List(_) | Repr::Map(_)).then_some(data)
    }
    /// Names and values in the order in which JSON writes them, if it is not that of the names.
    fn json_fields(&self) -> Option<Vec<(&'static str, Value)>> {
        None
    }
    /// What an action writes, if it is not what `%v` prints (a method on the pointer, which printing finds there only).
    fn written(&self) -> Option<String> {
        None
    }
    /// What TOML writes without quotes, if it has a form of its own there.
    fn toml(&self) -> Option<String> {
        None
    }
    /// Names of fields that Go knows and keeps to itself.
    fn hidden(&self) -> &'static [&'static str] {
        &[]
    }
    /// Why Go does not call a method of that name, if it has one that does not fit templates.
    fn uncallable(&self, name: &str) -> Option<(usize, &'static str)> {
        let _ = name;
        None
    }
    /// What is left of it as an argument of a function, where that differs: Go can call methods on the pointer only of
    /// what lies somewhere.
    fn passed(&self) -> Option<Value> {
        None
    }
    /// What `deepCopy` makes of it, if it is not the same again.
    fn copied(&self) -> Option<Value> {
        None
    }
    /// The text that TOML and `toYamlPretty` write where JSON writes something else.
    fn spelled(&self) -> Option<String> {
        None
    }
    /// Whether it is the same as another value of its type, as Go's `==` has it; `None` if Go cannot compare the type.
    fn equals(&self, other: &dyn Native) -> Option<bool> {
        match self.kind() {
            "map" | "slice" | "func" => None,
            // Pointers to one thing.
            "ptr" => Some(std::ptr::addr_eq(self.as_any(), other.as_any())),
            _ => Some(self.print(true, true) == other.print(true, true)),
        }
    }
    /// Truth as templates see it.
    fn truth(&self) -> bool {
        true
    }
    /// For downcasts by the functions that made it.
    fn as_any(&self) -> &dyn std::any::Any;
}

/// A placeholder for what the cluster does not hold yet: see `template::eval` for how it behaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hole {
    /// Text that stands for it in output, e.g. `<BucketClaim tenant-root/bucket .status.bucketName>`.
    pub label: Rc<str>,
}

impl Value {
    /// Nil without origins.
    pub const NIL: Value = Value { repr: Repr::Nil, origins: OriginSet::EMPTY, at: OriginId::NONE };

    /// A value without origins.
    #[inline]
    pub fn new(repr: Repr) -> Self {
        Value { repr, origins: OriginSet::EMPTY, at: OriginId::NONE }
    }

    /// A `bool`.
    pub fn bool(value: bool) -> Self {
        Value::new(Repr::Bool(value))
    }

    /// An `int`.
    pub fn int(value: i64) -> Self {
        Value::new(Repr::Int(value, IntType::Int))
    }

    /// An `int64`.
    pub fn int64(value: i64) -> Self {
        Value::new(Repr::Int(value, IntType::Int64))
    }

    /// A `float64`.
    pub fn float(value: f64) -> Self {
        Value::new(Repr::Float(value))
    }

    /// A string. Its marks (if any) are *not* joined into the value's origins: use [`Value::text_in`] for that.
    pub fn text(text: impl Into<Text>) -> Self {
        Value::new(Repr::Str(text.into()))
    }

    /// A string whose origins are those of its marks.
    pub fn text_in(text: Text, origins: &Origins) -> Self {
        let set = text.mark_union(origins);
        Value { repr: Repr::Str(text), origins: set, at: OriginId::NONE }
    }

    /// A `[]interface {}`.
    pub fn list(items: Vec<Value>) -> Self {
        Value::typed_list(items, ListType::Any)
    }

    /// A slice of that element type.
    pub fn typed_list(items: Vec<Value>, ty: ListType) -> Self {
        Value::new(Repr::List(Rc::new(List { items: items.into(), ty })))
    }

    /// A `map[string]interface {}`.
    pub fn map(entries: BTreeMap<Text, Value>) -> Self {
        Value::new(Repr::Map(Map::new(entries, MapType::Any)))
    }

    /// What it is.
    #[inline]
    pub fn repr(&self) -> &Repr {
        &self.repr
    }

    /// The same value that additionally depends on `origins`.
    #[inline]
    pub fn under(mut self, more: OriginSet, origins: &Origins) -> Self {
        self.origins = origins.union(self.origins, more);
        self
    }

    /// The same value at that place, which becomes one of its origins.
    pub fn located(mut self, at: OriginId, origins: &Origins) -> Self {
        self.at = at;
        let set = origins.single(at);
        self.origins = origins.union(self.origins, set);
        self
    }

    /// Whether it is nil.
    #[inline]
    pub fn is_nil(&self) -> bool {
        matches!(self.repr, Repr::Nil)
    }

    /// The string, if it is one.
    pub fn as_text(&self) -> Option<&Text> {
        match &self.repr {
            Repr::Str(text) => Some(text),
            _ => None,
        }
    }

    /// The map, if it is one.
    pub fn as_map(&self) -> Option<&Map> {
        match &self.repr {
            Repr::Map(map) => Some(map),
            _ => None,
        }
    }

    /// The list, if it is one.
    pub fn as_list(&self) -> Option<&List> {
        match &self.repr {
            Repr::List(list) => Some(list),
            _ => None,
        }
    }

    /// The integer, if it is one.
    pub fn as_int(&self) -> Option<i64> {
        match self.repr {
            Repr::Int(value, _) => Some(value),
            _ => None,
        }
    }

    /// Truth as Go templates see it: zero values and empty containers are false.
    pub fn truth(&self) -> bool {
        match &self.repr {
            Repr::Nil => false,
            Repr::Bool(value) => *value,
            Repr::Int(value, _) => *value != 0,
            Repr::Float(value) => *value != 0.0,
            Repr::Str(text) => !text.is_empty(),
            Repr::List(list) => !list.items.is_empty(),
            Repr::Map(map) => !map.is_empty(),
            Repr::Native(native) => native.truth(),
            Repr::Hole(_) => true,
        }
    }

    /// Go's kind name, as `kindOf` prints it; nil is `invalid`.
    pub fn kind(&self) -> &'static str {
        match &self.repr {
            Repr::Nil => "invalid",
            Repr::Bool(_) => "bool",
            Repr::Int(_, ty) => ty.name(),
            Repr::Float(_) => "float64",
            Repr::Str(_) | Repr::Hole(_) => "string",
            Repr::List(_) => "slice",
            Repr::Map(_) => "map",
            Repr::Native(native) => native.kind(),
        }
    }

    /// Whether it is a list or map that is nil in Go: it has a type and nothing in it.
    pub fn is_typed_nil(&self) -> bool {
        match &self.repr {
            Repr::List(list) => list.ty.is_nil(),
            Repr::Map(map) => matches!(map.ty(), MapType::Nil | MapType::NilStr),
            _ => false,
        }
    }

    /// Go's type name, as `typeOf` and `%T` print it; nil is `<nil>`.
    pub fn type_name(&self, helm: HelmVersion) -> String {
        use crate::base::version::Quirk;
        match &self.repr {
            Repr::Nil => "<nil>".into(),
            Repr::List(list) => match list.ty {
                ListType::Any | ListType::Nil => "[]interface {}",
                ListType::Str | ListType::NilStr => "[]string",
                ListType::Int => "[]int",
                ListType::Byte => "[]uint8",
                ListType::Maps => "[]map[string]interface {}",
                ListType::Lists => "[][]interface {}",
                ListType::Named(name) | ListType::NilNamed(name) => name,
            }
            .into(),
            Repr::Map(map) => match map.ty() {
                MapType::Any | MapType::Nil => "map[string]interface {}",
                MapType::Str | MapType::NilStr => "map[string]string",
                MapType::Values if helm.has(Quirk::CommonTypeNames) => "common.Values",
                MapType::Values => "chartutil.Values",
            }
            .into(),
            Repr::Native(native) => native.type_name(helm),
            _ => self.kind().into(),
        }
    }

    /// Go's name of the type that a pointer points to; any other value's own type.
    pub fn pointee_name(&self, helm: HelmVersion) -> String {
        let name = self.type_name(helm);
        match name.strip_prefix('*') {
            Some(pointee) if self.kind() == "ptr" => pointee.to_owned(),
            _ => name,
        }
    }

    /// Every origin the value or anything inside it has.
    pub fn deep_origins(&self, origins: &Origins) -> OriginSet {
        self.deep_origins_of(&mut 0, origins)
    }

    /// As [`Value::deep_origins`]; adds to `nodes` how many values were looked at.
    pub fn deep_origins_of(&self, nodes: &mut usize, origins: &Origins) -> OriginSet {
        if !origins.tracking() {
            return OriginSet::EMPTY;
        }
        match &self.repr {
            Repr::List(_) | Repr::Map(_) | Repr::Native(_) => {
                let mut walk = OriginWalk::default();
                self.collect_origins(&mut walk, 0);
                *nodes += walk.nodes;
                origins.union_all(walk.sets)
            }
            _ => self.origins,
        }
    }

    fn collect_origins(&self, walk: &mut OriginWalk, depth: usize) {
        walk.add(self.origins);
        walk.nodes += 1;
        if depth > MAX_DEPTH {
            return;
        }
        match &self.repr {
            Repr::List(list) if Rc::strong_count(list) == 1 || walk.seen.insert(Rc::as_ptr(list).cast()) => {
                list.items.iter().for_each(|v| v.collect_origins(walk, depth + 1));
            }
            Repr::Map(map)
                if Rc::strong_count(&map.entries) == 1 || walk.seen.insert(Rc::as_ptr(&map.entries).cast()) =>
            {
                map.entries().iter().for_each(|(key, v)| {
                    key.marks().iter().for_each(|mark| walk.add(mark.origins));
                    v.collect_origins(walk, depth + 1);
                });
            }
            Repr::Native(native) => {
                // Its data may live only as long as this walk, and so gets its own set.
                if let Some(data) = native.data() {
                    let outside = std::mem::take(&mut walk.seen);
                    data.collect_origins(walk, depth + 1);
                    walk.seen = outside;
                }
            }
            _ => {}
        }
    }

    /// A copy that shares no map with the original (lists and texts are immutable and shared where they hold no map).
    pub fn deep_copy(&self) -> Value {
        self.copy_below(0)
    }

    fn copy_below(&self, depth: usize) -> Value {
        if depth > MAX_DEPTH {
            return self.clone();
        }
        let repr = match &self.repr {
            Repr::List(list) => Repr::List(Rc::new(List {
                items: list.items.iter().map(|v| v.copy_below(depth + 1)).collect::<Vec<_>>().into(),
                ty: list.ty,
            })),
            Repr::Map(map) => Repr::Map(Map::new(
                map.entries().iter().map(|(k, v)| (k.clone(), v.copy_below(depth + 1))).collect(),
                map.ty(),
            )),
            Repr::Native(native) => match native.copied() {
                Some(copy) => copy.repr,
                None => self.repr.clone(),
            },
            other => other.clone(),
        };
        Value { repr, origins: self.origins, at: self.at }
    }
}

/// The origins met inside a value.
#[derive(Default)]
struct OriginWalk {
    sets: Vec<OriginSet>,
    /// Shared containers met so far: a map may hold another twice, level by level.
    seen: std::collections::HashSet<*const ()>,
    nodes: usize,
}

impl OriginWalk {
    fn add(&mut self, set: OriginSet) {
        if !set.is_empty() && self.sets.last() != Some(&set) {
            self.sets.push(set);
        }
    }
}

/// The error of an access through nil.
pub const NIL_POINTER: &str = "runtime error: invalid memory address or nil pointer dereference";

/// Nesting beyond which containers are not followed; templates can tie a map into a knot with `set`.
pub const MAX_DEPTH: usize = 500;

impl Default for Value {
    fn default() -> Self {
        Value::NIL
    }
}

impl fmt::Debug for Value {
    /// Shape only: values may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{}>", self.kind())
    }
}

impl Map {
    /// A map of that type.
    pub fn new(entries: BTreeMap<Text, Value>, ty: MapType) -> Self {
        Map { entries: Rc::new(RefCell::new(entries)), ty }
    }

    /// The Go type.
    pub fn ty(&self) -> MapType {
        self.ty
    }

    /// The entries, in byte order of the keys. Hold it only while nothing writes.
    pub fn entries(&self) -> Ref<'_, BTreeMap<Text, Value>> {
        self.entries.borrow()
    }

    /// The entries for writing. Hold it only while nothing reads.
    pub fn entries_mut(&self) -> RefMut<'_, BTreeMap<Text, Value>> {
        self.entries.borrow_mut()
    }

    /// The value of a key.
    pub fn get(&self, key: &[u8]) -> Option<Value> {
        self.entries().get(key).cloned()
    }

    /// Sets a key.
    pub fn insert(&self, key: impl Into<Text>, value: Value) {
        self.entries_mut().insert(key.into(), value);
    }

    /// Number of keys.
    pub fn len(&self) -> usize {
        self.entries().len()
    }

    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.entries().is_empty()
    }

    /// The same shared map as a `map[string]interface {}`, which Go makes of a named type in passing.
    pub fn plain(&self) -> Map {
        Map { entries: self.entries.clone(), ty: MapType::Any }
    }

    /// The same shared map as `.Values` of a chart.
    pub fn as_values(&self) -> Map {
        Map { entries: self.entries.clone(), ty: MapType::Values }
    }

    /// Whether both are the same shared map.
    pub fn same(&self, other: &Map) -> bool {
        Rc::ptr_eq(&self.entries, &other.entries)
    }
}
