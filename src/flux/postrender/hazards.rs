//! What of rendered text Helm takes and post-rendering refuses or changes (`F-325`, `F-341`, `F-348`, `F-350` to `F-359`).

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::rc::Rc;

use serde_json::Value as Json;

use super::document::{direct, marks};
use super::ident::Ident;
use super::tree::Tree;
use super::{TemplateOutput, blocks, hook_events, known, takes_part};
use crate::base::version::{HelmVersion, Quirk};
use crate::chart::documents::split;
use crate::cluster::object::{ObjectKey, group_of};
use crate::codec::yaml::{self, Kind, Node, Style};
use crate::value::origin::Origin;
use crate::value::{Origins, Text};

/// One place of rendered text that post-rendering refuses or changes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hazard {
    /// Nothing of the release is stored; otherwise something else is.
    pub refused: bool,
    /// The rule.
    pub rule: &'static str,
    /// The template file.
    pub file: String,
    /// Lines that print the place, by template file, if the render knows them; those of `file` first.
    pub written: Vec<(Rc<str>, u32)>,
    /// The object, as it names itself.
    pub object: ObjectKey,
    /// Where in the object (`.data.a`); "" for the whole.
    pub path: String,
    /// What happens.
    pub text: String,
    /// What is there comes from a lookup.
    pub looked_up: bool,
}

/// All of them, file by file. What Helm cannot read itself is left out.
pub fn hazards(files: &[TemplateOutput], helm: HelmVersion, origins: &Origins) -> Vec<Hazard> {
    let mut files: Vec<&TemplateOutput> = files.iter().filter(|file| takes_part(file)).collect();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    let mut search = Search { helm, origins, found: Vec::new(), twins: BTreeMap::new() };
    for file in files {
        for text in split(&file.text, helm) {
            search.document(&file.path, &text);
        }
    }
    search.found
}

struct Search<'a> {
    helm: HelmVersion,
    origins: &'a Origins,
    found: Vec<Hazard>,
    /// Identities that were met, with the file of each.
    twins: BTreeMap<(String, String, String, String, String), String>,
}

/// One document and the object that a hazard is told of.
struct Place<'a> {
    file: &'a str,
    text: &'a Text,
    object: ObjectKey,
}

impl Search<'_> {
    fn document(&mut self, file: &str, text: &Text) {
        let Some((document, object)) = direct(text) else { return };
        let root = document.root().target();
        // Hooks of Helm 3 are stored as they are rendered; those of no known type are not stored at all.
        let hook = hook_events(&object);
        let old = !self.helm.has(Quirk::PostRendersDocuments);
        if (hook.is_some() && old) || hook.is_some_and(|events| !known(&events)) {
            return;
        }
        let mut place = Place { file, text, object: key_of(&object) };
        for difference in yaml::differences(root) {
            let span = difference.span.range();
            self.say(&place, (difference.rule, difference.refused), span, difference.path, difference.text);
        }
        self.folded(&place, root, &mut String::new(), 0);
        if !old {
            self.cut(&place, root);
        }
        for (node, object) in objects(root, &object) {
            place.object = key_of(object);
            self.object(&place, node, object);
        }
    }

    fn say(
        &mut self,
        place: &Place<'_>,
        (rule, refused): (&'static str, bool),
        span: Range<usize>,
        path: String,
        text: String,
    ) {
        // Of what is longer, the place at which it begins.
        let set = marks(place.text, first_line(span), self.origins);
        let mut written = BTreeSet::new();
        let mut looked_up = false;
        for origin in self.origins.members(set) {
            match origin {
                Origin::Written(file, line) => drop(written.insert((file, line))),
                Origin::Lookup { .. } => looked_up = true,
                _ => {}
            }
        }
        let mut written: Vec<(Rc<str>, u32)> = written.into_iter().collect();
        written.sort_by_key(|(file, line)| (**file != *place.file, file.clone(), *line));
        let (file, object) = (place.file.to_owned(), place.object.clone());
        self.found.push(Hazard { refused, rule, file, written, object, path, text, looked_up });
    }

    /// What every object must have, and must not have twice (`F-325`, `F-341`, `F-348`).
    fn object(&mut self, place: &Place<'_>, node: Node<'_>, object: &Json) {
        let tree = Tree::plant(object.clone(), &BTreeMap::new());
        let text = |keys: &[&str]| tree.get(keys).map(Tree::scalar).unwrap_or_default();
        let metadata = node.entry("metadata").map(|(key, value)| (key, value.target()));
        let at = |node: Node<'_>| node.span().range();
        let kind = text(&["kind"]);
        if kind.is_empty() {
            let said = "it has no kind, which the post-renderer refuses".to_owned();
            self.say(place, ("F-325", true), first_line(at(node)), String::new(), said);
        } else if text(&["metadata", "name"]).is_empty() && !kind.ends_with("List") {
            let said = match object.pointer("/metadata/generateName") {
                Some(_) => "it has no metadata.name but a generateName, which the post-renderer refuses",
                None => "it has no metadata.name, which the post-renderer refuses",
            };
            let span = metadata.map_or_else(|| first_line(at(node)), |(key, _)| at(key));
            self.say(place, ("F-325", true), span, ".metadata".into(), said.into());
            return;
        }
        if let Some((key, labels)) = metadata.and_then(|(_, metadata)| metadata.entry("labels"))
            && object.pointer("/metadata/labels").is_some_and(|labels| !labels.is_null() && !labels.is_object())
        {
            let what = if matches!(labels.target().kind(), Kind::Seq) { "a list" } else { "a text" };
            let said = format!("its labels are {what}, to which the post-renderer cannot add its own");
            self.say(place, ("F-341", true), at(key), ".metadata.labels".into(), said);
        }
        let ident = Ident::of(&tree);
        match self.twins.get(&ident.key()) {
            Some(first) => {
                let said = format!("it is there already (in {first}), which the post-renderer refuses");
                let name = metadata.and_then(|(_, metadata)| metadata.entry("name"));
                let span = name.map_or_else(|| first_line(at(node)), |(_, name)| at(name));
                self.say(place, ("F-348", true), span, String::new(), said);
            }
            None => drop(self.twins.insert(ident.key(), place.file.to_owned())),
        }
    }

    /// Folded scalars that come back otherwise (`F-356`).
    fn folded(&mut self, place: &Place<'_>, node: Node<'_>, path: &mut String, depth: usize) {
        if depth > yaml::MAX_DEPTH {
            return;
        }
        let length = path.len();
        match node.kind() {
            Kind::Scalar(text, Style::Folded) => {
                let passes = if self.helm.has(Quirk::PostRendersDocuments) { 2 } else { 1 };
                let mut json = Json::String(text.to_owned());
                blocks::refold(&mut json, node, passes);
                if json.as_str() != Some(text) {
                    let said = "a folded text (`>`) whose line breaks the post-renderer changes: use `|`".to_owned();
                    self.say(place, ("F-356", false), node.span().range(), path.clone(), said);
                }
            }
            Kind::Seq => {
                for (i, item) in node.items().enumerate() {
                    path.push_str(&format!("[{i}]"));
                    self.folded(place, item, path, depth + 1);
                    path.truncate(length);
                }
            }
            Kind::Map => {
                for (key, value) in node.entries() {
                    path.push_str(&format!(".{}", key.text().unwrap_or("?")));
                    self.folded(place, value, path, depth + 1);
                    path.truncate(length);
                }
            }
            Kind::Scalar(..) | Kind::Alias => {}
        }
    }

    /// A block at the very end that loses its last line break (`F-357`).
    fn cut(&mut self, place: &Place<'_>, root: Node<'_>) {
        let bytes = place.text.bytes();
        let Some((node, path)) = last(root) else { return };
        let block = matches!(node.kind(), Kind::Scalar(_, Style::Literal | Style::Folded));
        if !block || bytes.ends_with(b"\n") {
            return;
        }
        let whole = [bytes, b"\n"].concat();
        let Ok(Some(document)) = yaml::parse_first(&whole) else { return };
        if last(document.root()).and_then(|(node, _)| node.text().map(str::to_owned)).as_deref() == node.text() {
            return;
        }
        let said = "the block at the end of the document loses its last line break: put another field behind it";
        self.say(place, ("F-357", false), node.span().range(), path, said.into());
    }
}

/// The last scalar of the text, with the way to it.
fn last(root: Node<'_>) -> Option<(Node<'_>, String)> {
    let mut path = String::new();
    let mut node = root.target();
    for _ in 0..yaml::MAX_DEPTH {
        match node.kind() {
            Kind::Map => {
                let (key, value) = node.entries().next_back()?;
                path.push_str(&format!(".{}", key.text().unwrap_or("?")));
                node = value;
            }
            Kind::Seq => {
                let (i, item) = node.items().enumerate().next_back()?;
                path.push_str(&format!("[{i}]"));
                node = item;
            }
            Kind::Scalar(..) => return Some((node, path)),
            Kind::Alias => return None,
        }
    }
    None
}

/// The start of a document stands for the whole.
fn first_line(span: Range<usize>) -> Range<usize> {
    span.start..span.start + 1
}

/// The objects of a document: itself, or the items of a list.
fn objects<'d, 'j>(root: Node<'d>, object: &'j Json) -> Vec<(Node<'d>, &'j Json)> {
    let kind = object.get("kind").and_then(Json::as_str).unwrap_or_default();
    let items = object.get("items").and_then(Json::as_array).filter(|_| kind.ends_with("List"));
    match (items, root.entry("items").map(|(_, items)| items.target())) {
        (Some(items), Some(nodes)) if matches!(nodes.kind(), Kind::Seq) => {
            nodes.items().map(Node::target).zip(items).filter(|(_, item)| item.is_object()).collect()
        }
        _ => vec![(root, object)],
    }
}

fn key_of(object: &Json) -> ObjectKey {
    let text = |pointer: &str| object.pointer(pointer).and_then(Json::as_str).unwrap_or_default().to_owned();
    ObjectKey {
        group: group_of(&text("/apiVersion")).to_owned(),
        kind: text("/kind"),
        namespace: text("/metadata/namespace"),
        name: text("/metadata/name"),
    }
}
