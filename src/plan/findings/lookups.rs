//! Questions that ask for something else than they mean: a name that came out empty, a guard of another version.

use std::collections::BTreeSet;

use super::Analyst;
use crate::cluster::lookup::object_of;
use crate::cluster::object::group_of;
use crate::plan::chain::{chain, flatten};
use crate::plan::fact::Fact;
use crate::report::contract::Class;
use crate::template::gate::LookupUse;
use crate::value::origin::Origin;

impl Analyst<'_> {
    /// Lookups whose key is not what the chart means, also where the render fails.
    pub(super) fn lookups(&mut self) {
        let now = self.now;
        let mut told = BTreeSet::new();
        for lookup in &now.lookups {
            // A name that the chart writes out as "" asks for the list on purpose.
            let unnamed = lookup.key.name.is_empty() && !lookup.name.is_empty();
            if unnamed && told.insert((Class::KeyEmpty, lookup.key.clone())) {
                self.asks_wrongly(Class::KeyEmpty, lookup);
            }
            let guard = Class::GuardMismatch;
            if !told.contains(&(guard, lookup.key.clone())) && self.guarded_by_another_version(lookup) {
                told.insert((guard, lookup.key.clone()));
                self.asks_wrongly(guard, lookup);
            }
        }
    }

    fn asks_wrongly(&mut self, class: Class, lookup: &LookupUse) {
        let now = self.now;
        let source = lookup.stack.first().map_or(&*lookup.place.file, |frame| &*frame.template);
        let set = now.origins.union(lookup.context, lookup.name);
        let chain = chain(set, &Fact::Lookup(lookup.key.clone()), "", now, source);
        self.push(class, &object_of(self.facts, &lookup.key), Vec::new(), vec![chain]);
    }

    /// Whether the lookup happens because other versions of its group are served, and not because its own is.
    fn guarded_by_another_version(&mut self, lookup: &LookupUse) -> bool {
        let now = self.now;
        let wanted = &*lookup.key.api_version;
        let version = |api: &str| api.splitn(3, '/').take(2).collect::<Vec<_>>().join("/");
        let around = flatten(lookup.context, &now.origins, &now.gates);
        let asked: Vec<_> = around
            .into_iter()
            .filter_map(|origin| if let Origin::ApiVersion(api) = origin { Some(api) } else { None })
            .filter(|api| wanted.contains('/') && group_of(&version(api)) == group_of(wanted))
            .collect();
        if asked.iter().any(|api| version(api) == wanted) {
            return false;
        }
        let guards: Vec<Fact> = asked.into_iter().map(Fact::ApiVersion).filter(|fact| self.holds(fact)).collect();
        guards.into_iter().any(|guard| {
            let without = self.without(&BTreeSet::from([guard]));
            without.lookups.iter().all(|other| other.key != lookup.key)
        })
    }
}
