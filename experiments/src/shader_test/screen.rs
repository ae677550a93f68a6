//! What the commands of a test draw on.

use super::command::Mode;
use super::draw::{Attributes, World};
use eggshade::Built;
use eggshade::backend::sim::machine::Lanes;

/// A window with what runs the programs.
pub trait Screen {
    /// Width and height.
    fn size(&self) -> [u32; 2];

    /// Fills with a colour and a depth, where one is given.
    ///
    /// # Errors
    /// What stops it.
    fn clear(&mut self, color: Option<Lanes>, depth: Option<f32>) -> Result<(), String>;

    /// Draws with the linked program.
    ///
    /// # Errors
    /// What stops it.
    fn draw(&mut self, world: &World, mode: Mode, vertices: &[Attributes]) -> Result<(), String>;

    /// All colours, bottom row first.
    ///
    /// # Errors
    /// What stops it.
    fn colors(&mut self) -> Result<&[Lanes], String>;

    /// All depths, bottom row first.
    ///
    /// # Errors
    /// What stops it.
    fn depths(&mut self) -> Result<&[f32], String>;
}

/// What makes a screen for a linked program.
pub trait Executor {
    /// A window of that size, black.
    ///
    /// # Errors
    /// Why the program does not run there.
    fn open<'a>(&'a self, built: &'a [Built; 2], size: [u32; 2]) -> Result<Box<dyn Screen + 'a>, String>;
}
