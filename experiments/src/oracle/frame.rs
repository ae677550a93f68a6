//! What is drawn into: float colours and a depth buffer.

use super::{Mesa, OracleError, missing};
use glow::HasContext as _;

/// A framebuffer of RGBA floats, bound while it lives.
pub struct Frame<'m> {
    mesa: &'m Mesa,
    frame: glow::Framebuffer,
    buffers: [glow::Renderbuffer; 2],
    size: [u32; 2],
}

impl Mesa {
    /// A framebuffer of this width and height, bound. Only one lives at a time.
    ///
    /// # Errors
    /// When Mesa has no room.
    pub fn frame(&self, size: [u32; 2]) -> Result<Frame<'_>, OracleError> {
        let gl = &self.gl;
        let [width, height] = size.map(|s| s as i32);
        // SAFETY: the context is current on this thread (a `Mesa` is not `Send`); all names used are
        // made here and deleted by `Drop`.
        unsafe {
            let frame = gl.create_framebuffer().map_err(missing)?;
            gl.bind_framebuffer(glow::FRAMEBUFFER, Some(frame));
            let buffer = |format, attachment| {
                let buffer = gl.create_renderbuffer().map_err(missing)?;
                gl.bind_renderbuffer(glow::RENDERBUFFER, Some(buffer));
                gl.renderbuffer_storage(glow::RENDERBUFFER, format, width, height);
                gl.framebuffer_renderbuffer(glow::FRAMEBUFFER, attachment, glow::RENDERBUFFER, Some(buffer));
                Ok(buffer)
            };
            let color = buffer(glow::RGBA32F, glow::COLOR_ATTACHMENT0)?;
            let depth = buffer(glow::DEPTH_COMPONENT24, glow::DEPTH_ATTACHMENT)?;
            self.legacy.clamp_colors(false);
            gl.viewport(0, 0, width, height);
            Ok(Frame { mesa: self, frame, buffers: [color, depth], size })
        }
    }
}

impl Frame<'_> {
    /// Fills with a colour and a depth, where one is given.
    pub fn clear(&self, color: Option<[f32; 4]>, depth: Option<f32>) {
        let gl = &self.mesa.gl;
        // SAFETY: as in `Mesa::frame`.
        unsafe {
            if let Some([r, g, b, a]) = color {
                gl.clear_color(r, g, b, a);
                gl.clear(glow::COLOR_BUFFER_BIT);
            }
            if let Some(depth) = depth {
                gl.clear_depth_f32(depth);
                gl.clear(glow::DEPTH_BUFFER_BIT);
            }
        }
    }

    /// The colours, bottom row first.
    ///
    /// # Errors
    /// An error that some call since the last reading left.
    pub fn colors(&self) -> Result<Vec<[f32; 4]>, OracleError> {
        let bytes = self.read(glow::RGBA, 16)?;
        Ok(bytes.chunks_exact(16).map(|p| [0, 4, 8, 12].map(|i| float(&p[i..i + 4]))).collect())
    }

    /// The depths, bottom row first.
    ///
    /// # Errors
    /// As [`Frame::colors`].
    pub fn depths(&self) -> Result<Vec<f32>, OracleError> {
        Ok(self.read(glow::DEPTH_COMPONENT, 4)?.chunks_exact(4).map(float).collect())
    }

    fn read(&self, format: u32, bytes_of_pixel: usize) -> Result<Vec<u8>, OracleError> {
        let [width, height] = self.size;
        let gl = &self.mesa.gl;
        let mut bytes = vec![0u8; width as usize * height as usize * bytes_of_pixel];
        // SAFETY: the buffer has the size that the call states.
        let error = unsafe {
            let into = glow::PixelPackData::Slice(Some(&mut bytes));
            gl.read_pixels(0, 0, width as i32, height as i32, format, glow::FLOAT, into);
            gl.get_error()
        };
        if error == glow::NO_ERROR { Ok(bytes) } else { Err(OracleError::Refused(format!("OpenGL error {error:#x}"))) }
    }
}

fn float(b: &[u8]) -> f32 {
    f32::from_ne_bytes([b[0], b[1], b[2], b[3]])
}

impl Drop for Frame<'_> {
    fn drop(&mut self) {
        let gl = &self.mesa.gl;
        // SAFETY: the names are this frame's own.
        unsafe {
            self.buffers.iter().for_each(|&b| gl.delete_renderbuffer(b));
            gl.delete_framebuffer(self.frame);
        }
    }
}
