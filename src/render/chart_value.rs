//! `.Chart`: a struct in Helm 3, a map in Helm 4 (`H-27`).

use std::any::Any;
use std::collections::BTreeMap;

use serde_json::{Map as JsonMap, Value as Json};

use super::scope::native;
use crate::base::version::{HelmVersion, Quirk};
use crate::chart::Chart;
use crate::chart::metadata::{Field, METADATA, Ty};
use crate::codec::json::value_from_json;
use crate::value::{ListType, Map, MapType, Native, Repr, Text, Value};

/// `.Chart` of a chart.
pub fn chart(chart: &Chart, is_root: bool, helm: HelmVersion) -> Value {
    if helm.has(Quirk::ChartIsMap) {
        let map = as_map(&chart.meta, METADATA);
        map.insert("IsRoot", Value::bool(is_root));
        return Value::new(Repr::Map(map));
    }
    native(ChartStruct { metadata: Struct::metadata(&chart.meta), is_root })
}

/// Helm 4 makes maps of structs, by the names of their Go fields; lists lose their types.
fn as_map(json: &JsonMap<String, Json>, fields: &'static [Field]) -> Map {
    let entries = fields.iter().map(|(go, name, ty, _)| {
        let value = match (ty, json.get(*name)) {
            (Ty::Structs(.., inner), found) => {
                let items = found.and_then(Json::as_array).into_iter().flatten();
                let none = JsonMap::new();
                Value::list(
                    items.map(|i| Value::new(Repr::Map(as_map(i.as_object().unwrap_or(&none), inner)))).collect(),
                )
            }
            (Ty::Texts | Ty::Anys, found) => {
                Value::list(found.and_then(Json::as_array).into_iter().flatten().map(value_from_json).collect())
            }
            (ty, found) => value(*ty, found),
        };
        (Text::from(*go), value)
    });
    Map::new(entries.collect(), MapType::Any)
}

/// The value of a field, or its zero value.
fn value(ty: Ty, json: Option<&Json>) -> Value {
    match (ty, json) {
        (Ty::Text, json) => Value::text(json.and_then(Json::as_str).unwrap_or_default()),
        (Ty::Bool, json) => Value::bool(json.and_then(Json::as_bool).unwrap_or_default()),
        (Ty::Texts | Ty::Anys, Some(Json::Array(items))) => {
            let list = if matches!(ty, Ty::Texts) { ListType::Str } else { ListType::Any };
            Value::typed_list(items.iter().map(value_from_json).collect(), list)
        }
        (Ty::Structs(name, list, fields), Some(Json::Array(items))) => {
            let item =
                |item: &Json| native(Struct { name, fields, json: item.as_object().cloned().unwrap_or_default() });
            Value::typed_list(items.iter().map(item).collect(), ListType::Named(list))
        }
        (Ty::TextMap, None) => Value::new(Repr::Map(Map::new(BTreeMap::new(), MapType::NilStr))),
        (Ty::TextMap, json) => {
            let entries = json.and_then(Json::as_object).into_iter().flatten();
            let entries = entries.map(|(k, v)| (Text::from(k.as_str()), Value::text(v.as_str().unwrap_or_default())));
            Value::new(Repr::Map(Map::new(entries.collect(), MapType::Str)))
        }
        (Ty::Texts, _) => Value::typed_list(Vec::new(), ListType::NilStr),
        (Ty::Structs(_, list, _), _) => Value::typed_list(Vec::new(), ListType::NilNamed(list)),
        (Ty::Anys, _) => Value::typed_list(Vec::new(), ListType::Nil),
    }
}

/// A struct of the chart's metadata, behind a pointer if it lies in a list.
struct Struct {
    name: &'static str,
    fields: &'static [Field],
    json: JsonMap<String, Json>,
}

impl Struct {
    fn metadata(json: &JsonMap<String, Json>) -> Struct {
        Struct { name: "Metadata", fields: METADATA, json: json.clone() }
    }

    fn is_pointer(&self) -> bool {
        self.name != "Metadata"
    }

    fn shown(&self, plus: bool) -> String {
        let field = |(go, name, ty, _): &Field| {
            let shown = match (ty, self.json.get(*name)) {
                // Go prints where pointers point; any address does.
                (Ty::Structs(..), Some(Json::Array(items))) => {
                    let pointers: Vec<&str> = items.iter().map(|_| "0xc000000000").collect();
                    format!("[{}]", pointers.join(" "))
                }
                (ty, found) => {
                    let shown = crate::template::print::go_v(&value(*ty, found), HelmVersion::cli(3, 17, 3));
                    String::from_utf8_lossy(&shown).into_owned()
                }
            };
            if plus { format!("{go}:{shown}") } else { shown }
        };
        let fields: Vec<String> = self.fields.iter().map(field).collect();
        format!("{{{}}}", fields.join(" "))
    }
}

impl Native for Struct {
    fn type_name(&self, _: HelmVersion) -> String {
        format!("{}chart.{}", if self.is_pointer() { "*" } else { "" }, self.name)
    }
    fn kind(&self) -> &'static str {
        if self.is_pointer() { "ptr" } else { "struct" }
    }
    fn field(&self, name: &str) -> Option<Value> {
        let (_, json, ty, _) = self.fields.iter().find(|f| f.0 == name)?;
        Some(value(*ty, self.json.get(*json)))
    }
    fn members(&self) -> Option<Vec<(&'static str, Value)>> {
        Some(self.fields.iter().map(|(go, name, ty, _)| (*go, value(*ty, self.json.get(*name)))).collect())
    }
    fn equals(&self, other: &dyn Native) -> Option<bool> {
        // Two pointers into one list point to the same if they show the same, but for twins.
        self.is_pointer().then(|| self.print(true, true) == other.print(true, true))
    }
    fn print(&self, plus: bool, _: bool) -> String {
        if self.is_pointer() { format!("&{}", self.shown(plus)) } else { self.shown(plus) }
    }
    fn data(&self) -> Option<Value> {
        let fields = self.json_fields()?.into_iter();
        Some(Value::map(fields.map(|(name, value)| (Text::from(name), value)).collect()))
    }
    fn json_fields(&self) -> Option<Vec<(&'static str, Value)>> {
        let fields = self.fields.iter().map(|(_, name, ty, omit)| (*name, value(*ty, self.json.get(*name)), *omit));
        Some(fields.filter(|(_, value, omit)| !omit || value.truth()).map(|(name, value, _)| (name, value)).collect())
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Helm 3's `.Chart`: the metadata, and whether the chart is the top one.
struct ChartStruct {
    metadata: Struct,
    is_root: bool,
}

impl Native for ChartStruct {
    fn type_name(&self, _: HelmVersion) -> String {
        "struct { chart.Metadata; IsRoot bool }".into()
    }
    fn kind(&self) -> &'static str {
        "struct"
    }
    fn field(&self, name: &str) -> Option<Value> {
        match name {
            "IsRoot" => Some(Value::bool(self.is_root)),
            "Metadata" => Some(native(Struct::metadata(&self.metadata.json))),
            _ => self.metadata.field(name),
        }
    }
    fn members(&self) -> Option<Vec<(&'static str, Value)>> {
        let metadata = native(Struct::metadata(&self.metadata.json));
        Some(vec![("Metadata", metadata), ("IsRoot", Value::bool(self.is_root))])
    }
    fn embedded(&self) -> Option<&'static str> {
        Some("Metadata")
    }
    fn equals(&self, _: &dyn Native) -> Option<bool> {
        None // it holds lists
    }
    fn print(&self, plus: bool, _: bool) -> String {
        let metadata = self.metadata.shown(plus);
        if plus {
            format!("{{Metadata:{metadata} IsRoot:{}}}", self.is_root)
        } else {
            format!("{{{metadata} {}}}", self.is_root)
        }
    }
    fn data(&self) -> Option<Value> {
        let fields = self.json_fields()?.into_iter().map(|(name, value)| (Text::from(name), value));
        Some(Value::new(Repr::Map(Map::new(fields.collect::<BTreeMap<_, _>>(), MapType::Any))))
    }
    fn json_fields(&self) -> Option<Vec<(&'static str, Value)>> {
        let mut fields = self.metadata.json_fields()?;
        fields.push(("IsRoot", Value::bool(self.is_root)));
        Some(fields)
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}
