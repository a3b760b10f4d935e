//! What gpuk adds to the compilers' own work, stage by stage: `whole_cost`, by hand, over the package whose manifest
//! `GPUK_COST` names, the best of `GPUK_COST_ROUNDS`. In processor time, since other work is often done beside it.

use std::path::PathBuf;

use super::compile::compile;
use super::preprocess::preprocess;
use super::{Job, Prefixes, Shop, sign};
use crate::config::Profile;
use crate::digest::FileDigests;
use crate::discover::discover;
use crate::env::Env;
use crate::folders::Folders;
use crate::package::Package;
use crate::progress::Silent;
use crate::source::annotation;
use crate::store::Store;
use crate::tools::Tools;
use crate::{fs, generate};

/// Milliseconds: of this thread (`sched-stats.rst`), and of the processes that were waited for, which the kernel counts
/// in ticks of ten (`man proc_pid_stat`, fields 16 and 17).
fn spent() -> [f64; 2] {
    let own = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    let own: f64 = own.split(' ').next().unwrap().parse().unwrap();
    let text = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields = text.rsplit(')').next().unwrap();
    let fields: Vec<_> = fields.split_whitespace().collect();
    let ticks = |at: usize| fields[at].parse::<f64>().unwrap();
    [own / 1e6, 10.0 * (ticks(13) + ticks(14))]
}

/// A result, with what it took here and in other processes.
fn timed<T>(work: impl FnOnce() -> T) -> (T, [f64; 2]) {
    let before = spent();
    let result = work();
    let after = spent();
    (result, [after[0] - before[0], after[1] - before[1]])
}

/// The stages of a unit, in milliseconds.
#[derive(Clone, Copy)]
struct Times {
    /// The compilers by themselves: the preprocessor, and the device compiler without questions.
    compilers: f64,
    /// Reading the preprocessed source.
    reading: f64,
    /// The device compiler with gpuk's questions, over what it takes without; less than nothing where gpuk has it read
    /// less of the headers.
    asking: f64,
    /// Reading the PTX.
    ptx: f64,
    /// Joining source, answers and PTX.
    signing: f64,
    /// Drawing the wrappers.
    drawing: f64,
}

impl Times {
    fn each(self, other: Self, with: fn(f64, f64) -> f64) -> Self {
        Self {
            compilers: with(self.compilers, other.compilers),
            reading: with(self.reading, other.reading),
            asking: with(self.asking, other.asking),
            ptx: with(self.ptx, other.ptx),
            signing: with(self.signing, other.signing),
            drawing: with(self.drawing, other.drawing),
        }
    }

    fn added(self) -> f64 {
        self.reading + self.asking + self.ptx + self.signing + self.drawing
    }

    fn show(self, name: &str) {
        let times = [
            self.compilers,
            self.reading,
            self.asking,
            self.ptx,
            self.signing,
            self.drawing,
            self.added(),
        ];
        let times = times.map(|it| format!("{it:9.1}")).join(" ");
        let share = 100.0 * self.added() / self.compilers;
        println!("{times} {share:8.1} %  {name}");
    }
}

#[test]
#[ignore = "measures; needs nvcc and a package"]
fn whole_cost() {
    let manifest = PathBuf::from(std::env::var_os("GPUK_COST").unwrap());
    let rounds = std::env::var("GPUK_COST_ROUNDS").map_or(1, |it| it.parse().unwrap());
    let out = tempfile::tempdir().unwrap();
    let folder = out.path().to_owned();
    let (env, mut findings) = (Env::of_process(), Vec::new());
    let package =
        Package::read(&manifest, folder.clone(), Profile::Dev, &env, &mut findings).unwrap();
    let sources = discover(&package, &mut findings).unwrap();
    fs::create_dir(&folder.join("work")).unwrap();
    let tools = Tools::ready(&package, &env).unwrap();
    let store = Store::open(&folder.join("store"), &folder).unwrap();
    let shop = Shop {
        package: &package,
        tools: &tools,
        folders: &Folders::of(&package, &tools),
        store: &store,
        digests: &FileDigests::new(),
        progress: &Silent,
        headers: Prefixes::default(),
        work: &folder.join("work"),
    };
    let heads = [
        "compilers",
        "reading",
        "asking",
        "PTX",
        "signing",
        "drawing",
        "added",
    ];
    println!("{}", heads.map(|it| format!("{it:>9}")).join(" "));
    let mut total: Option<Times> = None;
    for source in &sources.files {
        let job = Job::new(&shop, source, *tools.archs().first().unwrap());
        let best = (0..rounds).map(|_| one(&job, &shop));
        let best = best.reduce(|a, b| a.each(b, f64::min)).unwrap();
        best.show(&source.path.to_string_lossy());
        total = Some(total.map_or(best, |total| total.each(best, |a, b| a + b)));
    }
    total.unwrap().show("in all");
}

fn one(job: &Job<'_>, shop: &Shop<'_>) -> Times {
    let (preprocessed, [reading, preprocessor]) = timed(|| preprocess(job, shop).unwrap());
    let (plain, ptx) = (
        job.scratch(shop, "plain.ii"),
        job.scratch(shop, "plain.ptx"),
    );
    fs::write_private(&plain, &annotation::without(&preprocessed.whole())).unwrap();
    let recipe = shop.tools.recipe(job.arch, job.is_linked()).unwrap();
    let command = recipe.compile(&plain, &ptx, &job.source.path, &shop.package.root);
    let (_, [_, without]) = timed(|| command.run().unwrap());
    let (compiled, [ptx, with]) = timed(|| compile(job, shop, preprocessed).unwrap());
    let (signed, [signing, _]) = timed(|| sign::sign(job, shop, compiled).unwrap());
    let (_, [drawing, _]) = timed(|| {
        generate::package(&[generate::ModuleBindings {
            name: "measured".to_owned(),
            source: job.source.path.display().to_string(),
            digest: String::new(),
            checked: Default::default(),
            variants: Default::default(),
            images: Vec::new(),
            signatures: signed.signatures,
        }])
    });
    Times {
        compilers: preprocessor + without,
        reading,
        asking: with - without,
        ptx,
        signing,
        drawing,
    }
}
