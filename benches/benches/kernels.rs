//! The parts of an answer, timed: reading, compiling, the first answer, and
//! the check of a plan.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use millwright_benches::instances;
use millwright_models::catalog::Catalog;
use millwright_models::lower::{self, Settings};
use millwright_models::reader::{self, Document, ReadOptions};
use millwright_solver::arrival::Index;
use millwright_solver::check;
use millwright_solver::firstfit::first_fit;

fn parts(criterion: &mut Criterion) {
    for (family, pods) in [("free", "10000"), ("constrained", "10000"), ("five", "5000")] {
        let name = if family == "five" { format!("{family}-{pods}") } else { format!("{family}-{pods}-s1") };
        let (objects, catalog) = match instances::generated(&name, &["--family", family, "--pods", pods]) {
            Ok(files) => files,
            Err(reason) => {
                println!("SKIPPED {name}: {reason}");
                continue;
            }
        };
        let text = |path| std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{name}: {e}"));
        let documents = [Document { file: name.clone(), text: text(objects) }];
        let read = || reader::read(&documents, &ReadOptions::default()).unwrap_or_else(|e| panic!("{name}: {e}"));
        let world = read();
        let catalog = Catalog::parse(&name, &text(catalog)).unwrap_or_else(|e| panic!("{name}: {e}"));
        let settings = Settings { spot_types: 1, ..Settings::default() };
        let lower = || lower::lower(&world, &catalog, &settings).unwrap_or_else(|e| panic!("{name}: {e}"));
        let lowered = lower();
        let plan = first_fit(&lowered.instance, &Index::new(&lowered.instance));

        let mut group = criterion.benchmark_group(&name);
        group.sample_size(10);
        group.bench_function("read", |b| b.iter(|| black_box(read()).pods.len()));
        group.bench_function("lower", |b| b.iter(|| black_box(lower()).instance.shapes.len()));
        group.bench_function("first-answer", |b| {
            b.iter(|| first_fit(black_box(&lowered.instance), &Index::new(&lowered.instance)).bought.len());
        });
        group.bench_function("check-plan", |b| b.iter(|| check::plan(black_box(&lowered.instance), &plan).is_ok()));
        group.finish();
    }
}

criterion_group!(kernels, parts);
criterion_main!(kernels);
