//! `run`: shaders times targets times pipelines, as jobs.

use crate::files::ShaderFile;
use crate::job::Job;

/// A pipeline, or one with something left out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Variant {
    /// A built-in name or a TOML file.
    pub pipeline: String,
    /// What is left out.
    pub without: Vec<String>,
}

/// The jobs in the order of the table's rows: by shader, target, pipeline.
pub fn jobs(files: &[ShaderFile], targets: &[String], variants: &[Variant], repeat: u32) -> Vec<Job> {
    let mut jobs = Vec::with_capacity(files.len() * targets.len() * variants.len());
    for file in files {
        let path = file.path.display().to_string();
        for target in targets {
            for variant in variants {
                jobs.push(Job {
                    path: path.clone(),
                    name: path.clone(),
                    stage: file.stage.to_owned(),
                    target: target.clone(),
                    pipeline: variant.pipeline.clone(),
                    without: variant.without.clone(),
                    repeat,
                    ..Job::default()
                });
            }
        }
    }
    jobs
}
