//! Parsed templates, kept between renders: one release is rendered again for every fact that is emptied.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use crate::base::version::HelmVersion;
use crate::chart::Chart;
use crate::template::parse::ParseError;
use crate::template::set::TemplateSet;

/// Sets that are kept; a plan asks for few charts at a time, and each may be large.
const KEPT: usize = 4;

/// The template files of one chart, by its path in the whole.
pub type Templates = Rc<Vec<(String, Vec<u8>)>>;

/// The sets of templates parsed last.
#[derive(Default)]
pub struct Parsed {
    sets: RefCell<VecDeque<Entry>>,
}

struct Entry {
    helm: HelmVersion,
    charts: Vec<(String, Templates)>,
    set: Rc<TemplateSet>,
}

impl Parsed {
    /// The set for a chart with its dependencies processed: from the last renders of the same files, or from `parse`.
    ///
    /// # Errors
    /// Those of `parse`; they are not kept.
    pub fn set(
        &self,
        chart: &Chart,
        helm: HelmVersion,
        parse: impl FnOnce() -> Result<TemplateSet, ParseError>,
    ) -> Result<Rc<TemplateSet>, ParseError> {
        let mut charts = Vec::new();
        files(chart, chart.name().to_owned(), &mut charts);
        let same = |entry: &Entry| {
            entry.helm == helm
                && entry.charts.len() == charts.len()
                && entry.charts.iter().zip(&charts).all(|(a, b)| a.0 == b.0 && Rc::ptr_eq(&a.1, &b.1))
        };
        if let Some(entry) = self.sets.borrow().iter().find(|entry| same(entry)) {
            return Ok(entry.set.clone());
        }
        let set = Rc::new(parse()?);
        let mut sets = self.sets.borrow_mut();
        sets.truncate(KEPT - 1);
        sets.push_front(Entry { helm, charts, set: set.clone() });
        Ok(set)
    }
}

/// The files of a chart and of those below it. A library's files are other templates than the same files elsewhere.
fn files(chart: &Chart, path: String, found: &mut Vec<(String, Templates)>) {
    for dep in &chart.deps {
        files(dep, format!("{path}/charts/{}", dep.name()), found);
    }
    found.push((if chart.is_library() { format!("{path} (library)") } else { path }, chart.templates.clone()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::Files;
    use crate::funcs;
    use crate::template::set::FuncTable;

    #[test]
    fn the_same_files_are_parsed_once_for_each_version() {
        let files: Files =
            [("Chart.yaml".to_owned(), b"apiVersion: v2\nname: a\nversion: 1.0.0\n".to_vec())].into_iter().collect();
        let chart = Chart::from_folder(files.clone()).unwrap();
        let other = Chart::from_folder(files).unwrap();
        let parsed = Parsed::default();
        let mut times = 0;
        for (chart, helm) in [(&chart, "4.2"), (&chart, "4.2"), (&chart, "3.17"), (&other, "4.2"), (&chart, "4.2")] {
            let helm: HelmVersion = helm.parse().unwrap();
            let set = parsed.set(&chart.clone(), helm, || {
                times += 1;
                Ok(TemplateSet::new(Rc::new(FuncTable::new(funcs::all(), helm))))
            });
            assert!(set.is_ok());
        }
        assert_eq!(times, 3);
    }
}
