//! One release rendered on some state of the cluster, and made into objects as helm-controller would.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use serde_json::Value as Json;

use super::chain::flatten;
use super::fact::Fact;
use super::gather::Subject;
use crate::base::version::{HelmVersion, Quirk};
use crate::cluster::discovery::{Discovery, KubeVersion as KubernetesVersion};
use crate::cluster::lookup::can_exist;
use crate::cluster::object::{ObjectKey, group_of};
use crate::cluster::overlay::Overlay;
use crate::cluster::rbac::AsUser;
use crate::cluster::snapshot::Facts;
use crate::cluster::world::{ClusterWorld, Supposition, Unfilled, parse_time};
use crate::flux::postrender::{PostRender, Stored, StoredDocument, Strategy, TemplateOutput, live_form, post_render};
use crate::flux::settings::Settings;
use crate::flux::{Composed, HelmRelease, compose, layers};
use crate::render::parsed::Parsed;
use crate::render::scope::{Capabilities, KubeVersion, Release};
use crate::render::{Request, Schemas, render, user_values};
use crate::template::eval::Options;
use crate::template::gate::{Gate, LookupUse, Place};
use crate::value::Map;
use crate::value::origin::{LookupKey, Origin, OriginSet, Origins};

/// One thing changed, or none.
#[derive(Debug, Clone)]
pub enum Mode {
    /// As a forced render would do it.
    Now,
    /// As whoever has no cluster would do it, each time as a first install: told what the cluster serves, or only this.
    Offline(Option<Rc<Discovery>>),
    /// As the force after that would do it.
    Later,
    /// This API version is served besides.
    Served(Rc<str>),
    /// These facts are otherwise.
    Without(BTreeSet<Fact>),
    /// A looked-up object lacks a field.
    WithoutField(Rc<LookupKey>, Rc<str>),
    /// A looked-up object exists that nobody has filled yet.
    Unfilled(Rc<LookupKey>, Unfilled),
    /// What is missing is hoped for.
    Hoped {
        /// API versions that are not served, but may come.
        served: Rc<BTreeSet<Rc<str>>>,
        /// The fact that stays as it is.
        except: Option<Fact>,
    },
    /// These conditions hold.
    Forced(BTreeSet<Place>),
}

/// One object of a manifest.
pub struct Doc {
    /// Its identity, with the namespace it gets.
    pub key: ObjectKey,
    /// `group/version`
    pub api_version: String,
    /// Template that it comes from.
    pub source: String,
    /// The object as it is stored.
    pub object: Json,
    /// Origins of its leaves, by position path.
    pub leaves: BTreeMap<String, OriginSet>,
    /// What its existence depends on.
    pub whole: OriginSet,
}

impl Doc {
    /// From a document of a manifest.
    pub fn new(document: StoredDocument, namespace: &str, facts: &dyn Facts) -> Doc {
        let text =
            |pointer: &str| document.object.pointer(pointer).and_then(Json::as_str).unwrap_or_default().to_owned();
        let api_version = text("/apiVersion");
        let (kind, own) = (text("/kind"), text("/metadata/namespace"));
        let group = group_of(&api_version).to_owned();
        let namespaced = facts.discovery().scope(&group, &kind);
        let namespace = match namespaced {
            Some(false) => String::new(),
            // What nothing declares is taken as it is written.
            None => own,
            Some(true) if own.is_empty() => namespace.to_owned(),
            Some(true) => own,
        };
        Doc {
            key: ObjectKey { group, kind, namespace, name: text("/metadata/name") },
            api_version,
            source: document.source,
            object: document.object,
            leaves: document.leaves,
            whole: document.whole,
        }
    }

    /// The origins of its existence under this name: of the document itself, and of what makes its identity.
    pub fn identity(&self, origins: &Origins) -> OriginSet {
        let names = [".apiVersion", ".kind", ".metadata.name", ".metadata.namespace"];
        let sets = names.iter().filter_map(|name| self.leaves.get(*name)).copied();
        origins.union_all(sets.chain([self.whole]))
    }

    /// The origins of what lies at a position path, and of the document itself.
    pub fn origins_at(&self, path: Option<&str>, origins: &Origins) -> OriginSet {
        let Some(path) = path else { return self.whole };
        let below =
            |leaf: &str| leaf == path || leaf.strip_prefix(path).is_some_and(|rest| rest.starts_with(['.', '[']));
        let sets = self.leaves.iter().filter(|(leaf, _)| below(leaf)).map(|(_, set)| *set);
        origins.union_all(sets.chain([self.whole]))
    }
}

/// What a render gave.
pub struct Rendered {
    /// Objects of the manifest, in install order.
    pub docs: Vec<Doc>,
    /// Hooks.
    pub hooks: Vec<Doc>,
    /// Text of the template files; of [`Renderer::written`] only.
    pub files: Vec<TemplateOutput>,
    /// Gates that were met.
    pub gates: Vec<Gate>,
    /// Lookups that were evaluated.
    pub lookups: Vec<LookupUse>,
    /// Table of origins of this render.
    pub origins: Origins,
    /// Why it failed.
    pub error: Option<String>,
    /// Lookups answered with "nothing" although nobody looked.
    pub uncollected: BTreeSet<LookupKey>,
    /// Lookups that were answered although they may be forbidden to the service account.
    pub doubtful: BTreeSet<LookupKey>,
    /// Fields of Secrets of which the key is known, but not the bytes: a stand-in stands for them.
    pub redacted: BTreeSet<(LookupKey, String)>,
    /// The service account that asks; `None` for the controller itself.
    pub user: Option<String>,
    index: BTreeMap<ObjectKey, usize>,
}

impl Rendered {
    /// A render that gave nothing.
    pub fn failed(origins: Origins, error: String) -> Rendered {
        Rendered {
            docs: Vec::new(),
            hooks: Vec::new(),
            files: Vec::new(),
            gates: Vec::new(),
            lookups: Vec::new(),
            origins,
            error: Some(error),
            uncollected: BTreeSet::new(),
            doubtful: BTreeSet::new(),
            redacted: BTreeSet::new(),
            user: None,
            index: BTreeMap::new(),
        }
    }

    /// The object of that identity.
    pub fn doc(&self, key: &ObjectKey) -> Option<&Doc> {
        self.index.get(key).and_then(|i| self.docs.get(*i))
    }

    /// Whether it holds an object.
    pub fn holds(&self, key: &ObjectKey) -> bool {
        self.index.contains_key(key)
    }

    /// The gate nearest to a document: its place and condition.
    pub fn gate_of(&self, whole: OriginSet) -> Option<(String, String)> {
        let ids = self.origins.members(whole).into_iter();
        let gates = ids.filter_map(|o| if let Origin::Gate(id) = o { self.gates.get(id.0 as usize) } else { None });
        let nearest = gates.min_by_key(|gate| (gate.stack.len(), std::cmp::Reverse(gate.id.0)))?;
        Some((format!("{}:{}", nearest.place.file, nearest.place.line), nearest.condition.to_string()))
    }
}

/// Renders releases.
pub struct Renderer {
    /// The controller: its version and flags.
    pub settings: Settings,
    helm: HelmVersion,
    parsed: Parsed,
    renders: Cell<usize>,
}

impl Renderer {
    /// For one controller.
    pub fn new(settings: Settings) -> Renderer {
        Renderer { helm: settings.controller.helm(), settings, parsed: Parsed::default(), renders: Cell::new(0) }
    }

    /// How many renders it has made.
    pub fn renders(&self) -> usize {
        self.renders.get()
    }

    /// The same controller with another Helm inside.
    pub fn with_helm(self, helm: HelmVersion) -> Renderer {
        Renderer { helm, ..self }
    }

    /// The same controller with a Helm that differs by one rule.
    pub fn flipped(&self, quirk: Quirk) -> Renderer {
        Renderer::new(self.settings.clone()).with_helm(self.helm.flipped(quirk))
    }

    /// The Helm inside.
    pub fn helm(&self) -> HelmVersion {
        self.helm
    }

    /// Renders a release as its next upgrade (or install) would, on these facts.
    pub fn render(&self, subject: &Subject, facts: &dyn Facts, mode: &Mode) -> Rendered {
        self.render_through(subject, facts, mode, &self.post_render_config(subject), false)
    }

    /// The text of each template file before post-rendering, which carries where it is written ([`Origin::Written`]).
    pub fn written(&self, subject: &Subject, facts: &dyn Facts, mode: &Mode) -> Rendered {
        self.render_through(subject, facts, mode, &self.post_render_config(subject), true)
    }

    /// The same without the post-renderers and the common metadata of the HelmRelease.
    pub fn bare(&self, subject: &Subject, facts: &dyn Facts, mode: &Mode) -> Rendered {
        let config = PostRender { post_renderers: None, common_metadata: None, ..self.post_render_config(subject) };
        self.render_through(subject, facts, mode, &config, false)
    }

    /// Whether the post-renderers and the common metadata of the HelmRelease leave these objects as they are.
    pub fn leaves(&self, subject: &Subject, docs: &[&Doc], facts: &dyn Facts) -> bool {
        let files: Vec<TemplateOutput> = docs
            .iter()
            .map(|doc| TemplateOutput { path: doc.source.clone(), text: doc.object.to_string().into() })
            .collect();
        let Ok(stored) = post_render(&files, &self.post_render_config(subject), &Origins::new(false)) else {
            return false;
        };
        let made: Vec<Doc> = stored.manifest.into_iter().map(|d| Doc::new(d, &subject.namespace, facts)).collect();
        made.len() == docs.len()
            && docs.iter().all(|doc| {
                made.iter().any(|other| other.key == doc.key && crate::diff::equal(&other.object, &doc.object))
            })
    }

    fn render_through(
        &self,
        subject: &Subject,
        facts: &dyn Facts,
        mode: &Mode,
        config: &PostRender<'_>,
        places: bool,
    ) -> Rendered {
        self.renders.set(self.renders.get() + 1);
        let origins = Origins::new(true);
        let supposition = match mode {
            Mode::Without(facts) => Supposition::Without(facts.iter().filter_map(Fact::lookup).cloned().collect()),
            Mode::WithoutField(key, path) => Supposition::WithoutField(key.clone(), path.clone()),
            Mode::Unfilled(key, how) => Supposition::Unfilled(key.clone(), *how),
            Mode::Offline(_) => Supposition::Offline,
            Mode::Now | Mode::Served(_) | Mode::Later | Mode::Forced(_) => Supposition::AsItIs,
            Mode::Hoped { except, .. } => {
                Supposition::Hoped { except: except.as_ref().and_then(Fact::lookup).cloned() }
            }
        };
        let account = account(subject, facts, &self.settings);
        let seen: &dyn Facts = account.as_ref().map_or(facts, |account| account);
        let mut world = ClusterWorld::new(seen, supposition).concealing();
        if matches!(mode, Mode::Without(facts) if facts.contains(&Fact::Clock)) {
            world = world.at(rendered_at(subject).unwrap_or_default());
        }
        let force_open = if let Mode::Forced(open) = mode { open.clone() } else { BTreeSet::new() };
        let Some(chart) = &subject.chart else {
            return Rendered::failed(origins, "there is no chart to render".into());
        };
        let request = Request {
            chart,
            values: self.values(subject, facts, mode, &origins),
            release: release(subject, mode),
            capabilities: capabilities(facts, mode),
            helm: self.helm(),
            options: Options { force_open, places },
            parsed: &self.parsed,
            schemas: schemas(subject, mode),
        };
        let rendered = render(request, &world, &origins);
        let mut out = Rendered::failed(origins, String::new());
        out.error = rendered.error;
        out.gates = rendered.recorder.gates;
        out.lookups = rendered.recorder.lookups;
        out.uncollected = world.uncollected();
        out.doubtful = world.doubtful();
        out.redacted = world.redacted();
        out.user = account.as_ref().map(|account| account.user().to_owned());
        if places && out.error.is_none() {
            out.files = rendered.files.into_iter().map(|f| TemplateOutput { path: f.path, text: f.text }).collect();
        } else if out.error.is_none() {
            let files: Vec<TemplateOutput> =
                rendered.files.into_iter().map(|f| TemplateOutput { path: f.path, text: f.text }).collect();
            match post_render(&files, config, &out.origins) {
                Ok(stored) => fill(&mut out, stored, subject, facts),
                Err(error) => out.error = Some(error),
            }
        }
        out
    }

    /// The values, or those without one of the objects that they are composed from.
    fn values(&self, subject: &Subject, facts: &dyn Facts, mode: &Mode, origins: &Origins) -> Map {
        let gone = |fact: &Fact| if let Fact::Values(label) = fact { Some(label.clone()) } else { None };
        if let Mode::Without(without) = mode
            && let Some(label) = without.iter().find_map(gone)
            && let Some(hr) = &subject.helm_release
        {
            let hr = layers::without(&HelmRelease::new(hr.clone()), &label);
            if let Composed::Values { json, .. } = compose(&hr, facts, self.helm) {
                return user_values(&json, &[], layers::INLINE, origins);
            }
        }
        user_values(&subject.values, &subject.layers, layers::INLINE, origins)
    }

    fn post_render_config<'s>(&self, subject: &'s Subject) -> PostRender<'s> {
        let hr = subject.helm_release.as_deref();
        PostRender {
            helm: self.helm(),
            strategy: hr.map_or(Strategy::Combined, |hr| self.settings.strategy(hr)),
            hr_name: if by_flux(subject) { &subject.release.name } else { "" },
            hr_namespace: &subject.release.namespace,
            post_renderers: hr.and_then(|hr| hr.pointer("/spec/postRenderers")),
            common_metadata: hr.and_then(|hr| hr.pointer("/spec/commonMetadata")),
        }
    }

    /// Closed gates that no state of the cluster opens, but behind whose conditions stands a lookup that the values keep
    /// from being asked, or that cannot find anything.
    pub fn never_opened(&self, subject: &Subject, now: &Rendered, facts: &dyn Facts) -> BTreeSet<Place> {
        let closed = now.gates.iter().filter(|gate| !gate.open && gate.hidden.is_some());
        closed
            .filter(|gate| {
                let mut hides = false;
                for origin in flatten(gate.reads, &now.origins, &now.gates) {
                    match origin {
                        Origin::Lookup { key, .. } if can_exist(facts, &key) => return false,
                        Origin::Lookup { .. } => hides = true,
                        Origin::Gate(id) => {
                            hides |= now.gates.get(id.0 as usize).is_some_and(|inner| hides_lookup(subject, inner));
                        }
                        _ => {}
                    }
                }
                hides
            })
            .map(|gate| gate.place.clone())
            .collect()
    }
}

/// Whether helm-controller makes the release, or made the stored revision.
fn by_flux(subject: &Subject) -> bool {
    let marked = |doc: &Doc| doc.object.pointer("/metadata/labels/helm.toolkit.fluxcd.io~1name").is_some();
    subject.helm_release.is_some() || subject.stored_docs.is_empty() || subject.stored_docs.iter().any(marked)
}

/// Values that do not fit fail a release whatever the cluster holds, so the first render tells; the HelmRelease may say
/// that schemas do not count.
fn schemas(subject: &Subject, mode: &Mode) -> Schemas {
    let action = if subject.stored.is_empty() { "install" } else { "upgrade" };
    let spec =
        subject.helm_release.as_ref().and_then(|hr| hr.pointer(&format!("/spec/{action}/disableSchemaValidation")));
    let disabled = spec.and_then(Json::as_bool) == Some(true);
    if disabled || !matches!(mode, Mode::Now) { Schemas::Skipped } else { Schemas::WhereKnown }
}

/// Whether the branch that a gate did not take asks the cluster, by its source.
fn hides_lookup(subject: &Subject, gate: &Gate) -> bool {
    let (Some(chart), Some((from, to))) = (&subject.chart, gate.hidden) else { return false };
    let prefix = format!("{}/", chart.name());
    let Some(path) = gate.place.file.strip_prefix(&prefix) else { return false };
    let Some((_, source)) = chart.templates.iter().find(|(name, _)| name == path) else { return false };
    let text = String::from_utf8_lossy(source);
    let skip = (from as usize).saturating_sub(1);
    text.lines().skip(skip).take((to as usize + 1).saturating_sub(from as usize)).any(|line| line.contains("lookup "))
}

/// The cluster as the service account sees it that the release acts as; `None` for the controller itself (`F-24`).
pub fn account<'a>(subject: &Subject, facts: &'a dyn Facts, settings: &Settings) -> Option<AsUser<'a>> {
    let hr = subject.helm_release.as_deref()?;
    let named = hr.pointer("/spec/serviceAccountName").and_then(Json::as_str).unwrap_or_default();
    let name = if named.is_empty() { &settings.default_account } else { named };
    (!name.is_empty()).then(|| AsUser::service_account(facts, &subject.release.namespace, name))
}

/// When the stored revision was rendered, in nanoseconds since 1970 UTC.
pub fn rendered_at(subject: &Subject) -> Option<i128> {
    parse_time(subject.stored.first()?.json.pointer("/info/last_deployed")?.as_str()?)
}

/// `.Release` of the next render.
fn release(subject: &Subject, mode: &Mode) -> Release {
    let stored = subject.stored.first().map_or(0, |r| r.version);
    let upgrades = !subject.stored.is_empty();
    Release {
        name: subject.helm_name.clone(),
        namespace: subject.namespace.clone(),
        revision: match mode {
            Mode::Without(facts) if facts.contains(&Fact::Revision) => stored,
            Mode::Offline(_) => 1,
            Mode::Later => stored + 2,
            _ => stored + 1,
        },
        is_upgrade: !matches!(mode, Mode::Offline(_))
            && upgrades != matches!(mode, Mode::Without(facts) if facts.contains(&Fact::Install)),
    }
}

/// `.Capabilities` of the cluster, with one thing less or with what is hoped for.
fn capabilities(facts: &dyn Facts, mode: &Mode) -> Capabilities {
    let told = if let Mode::Offline(Some(told)) = mode { told } else { facts.discovery() };
    let mut api_versions = told.api_versions();
    let mut version = told.version.clone();
    match mode {
        Mode::Without(facts) => {
            api_versions.retain(|api| !facts.contains(&Fact::ApiVersion(api.as_str().into())));
            if facts.contains(&Fact::KubeVersion) {
                version = KubernetesVersion::new("v1.0.0");
            }
        }
        Mode::Served(api) => drop(api_versions.insert(api.to_string())),
        Mode::Hoped { served, except } => {
            let stays = |api: &Rc<str>| except.as_ref().is_some_and(|e| *e == Fact::ApiVersion(api.clone()));
            api_versions.extend(served.iter().filter(|api| !stays(api)).map(ToString::to_string));
        }
        _ => {}
    }
    Capabilities {
        kube: KubeVersion {
            version: version.git,
            normalized: String::new(),
            major: version.major,
            minor: version.minor,
        },
        api_versions: Rc::new(api_versions),
        api_order: Rc::default(),
    }
}

fn fill(out: &mut Rendered, stored: Stored, subject: &Subject, facts: &dyn Facts) {
    let doc = |document| Doc::new(document, &subject.namespace, facts);
    out.docs = stored.manifest.into_iter().map(doc).collect();
    out.hooks = stored.hooks.into_iter().map(|hook| doc(hook.document)).collect();
    out.index = out.docs.iter().enumerate().map(|(i, doc)| (doc.key.clone(), i)).collect();
}

/// What an upgrade to this render writes to the cluster.
pub fn live_writes(subject: &Subject, now: &Rendered, world: &mut Overlay<'_>) {
    write_docs(subject, &now.docs, world);
}

/// What an upgrade to these objects writes to the cluster.
pub fn write_docs(subject: &Subject, docs: &[Doc], world: &mut Overlay<'_>) {
    let kept: BTreeSet<&ObjectKey> = docs.iter().map(|doc| &doc.key).collect();
    for stored in subject.stored_docs.iter().filter(|doc| !kept.contains(&doc.key)) {
        world.delete(&stored.key);
    }
    for doc in docs {
        let document = StoredDocument {
            source: doc.source.clone(),
            object: doc.object.clone(),
            leaves: BTreeMap::new(),
            whole: OriginSet::EMPTY,
        };
        let previous = subject.stored_docs.iter().find(|stored| stored.key == doc.key).map(|stored| &stored.object);
        world.put(live_form(&document, &subject.helm_name, &subject.namespace), &subject.namespace, previous);
    }
}
