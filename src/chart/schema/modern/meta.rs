//! The metaschemas that validators bring along, without their prose.

use crate::chart::schema::node::Node;
use crate::codec::json::read::decode;

const SINGLE: &[&str] =
    &[include_str!("meta/draft-04.json"), include_str!("meta/draft-06.json"), include_str!("meta/draft-07.json")];
const FAMILIES: &[&str] = &[include_str!("meta/2019-09.json"), include_str!("meta/2020-12.json")];

thread_local! {
    static DOCUMENTS: Vec<(String, Node)> = read();
}

fn read() -> Vec<(String, Node)> {
    let parse = |text: &&str| decode::<Node>(text.as_bytes()).ok().map(|(node, _)| node);
    let families = FAMILIES.iter().filter_map(parse).filter_map(|family| family.as_list().cloned());
    let all = SINGLE.iter().filter_map(parse).chain(families.flat_map(|family| family.to_vec()));
    all.filter_map(|node| {
        let members = node.as_map()?;
        let id = members.get("$id").or_else(|| members.get("id"))?.as_text()?.trim_end_matches('#').to_owned();
        Some((id, node))
    })
    .collect()
}

/// The metaschema (or part of one) with that address.
pub fn document(url: &str) -> Option<Node> {
    DOCUMENTS.with(|all| all.iter().find(|(id, _)| id == url).map(|(_, node)| node.clone()))
}
