//! 4x4 matrices, column by column as GLSL keeps them, in f64: the few that a camera needs.

/// Four columns of four rows.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Mat4(pub [[f64; 4]; 4]);

impl Mat4 {
    /// Ones on the diagonal.
    pub const IDENTITY: Mat4 = Mat4([[1., 0., 0., 0.], [0., 1., 0., 0.], [0., 0., 1., 0.], [0., 0., 0., 1.]]);

    /// `gluPerspective`: vertical field of view in degrees.
    pub fn perspective(fov: f64, aspect: f64, near: f64, far: f64) -> Mat4 {
        let f = 1.0 / (fov.to_radians() / 2.0).tan();
        let depth = near - far;
        Mat4([
            [f / aspect, 0., 0., 0.],
            [0., f, 0., 0.],
            [0., 0., (far + near) / depth, -1.],
            [0., 0., 2. * far * near / depth, 0.],
        ])
    }

    /// A move.
    pub fn translate(by: [f64; 3]) -> Mat4 {
        let mut m = Mat4::IDENTITY;
        m.0[3][..3].copy_from_slice(&by);
        m
    }

    /// A turn about an axis (0 x, 1 y, 2 z), in degrees.
    pub fn rotate(axis: usize, degrees: f64) -> Mat4 {
        let (sin, cos) = degrees.to_radians().sin_cos();
        let (i, j) = ((axis + 1) % 3, (axis + 2) % 3);
        let mut m = Mat4::IDENTITY;
        m.0[i][i] = cos;
        m.0[i][j] = sin;
        m.0[j][i] = -sin;
        m.0[j][j] = cos;
        m
    }

    /// `self * right`.
    pub fn times(&self, right: &Mat4) -> Mat4 {
        Mat4([0, 1, 2, 3].map(|c| self.apply(right.0[c])))
    }

    /// `self * v`.
    pub fn apply(&self, v: [f64; 4]) -> [f64; 4] {
        [0, 1, 2, 3].map(|r| (0..4).map(|c| self.0[c][r] * v[c]).sum())
    }

    /// Rows and columns exchanged.
    pub fn transposed(&self) -> Mat4 {
        Mat4([0, 1, 2, 3].map(|r| [0, 1, 2, 3].map(|c| self.0[c][r])))
    }

    /// The inverse by Gauss and Jordan; the identity for a singular matrix.
    pub fn inverse(&self) -> Mat4 {
        let (mut a, mut b) = (self.transposed().0, Mat4::IDENTITY.0); // rows
        for i in 0..4 {
            let pivot = (i..4).max_by(|&p, &q| a[p][i].abs().total_cmp(&a[q][i].abs())).unwrap_or(i);
            if a[pivot][i] == 0.0 {
                return Mat4::IDENTITY;
            }
            a.swap(i, pivot);
            b.swap(i, pivot);
            let scale = 1.0 / a[i][i];
            a[i] = a[i].map(|v| v * scale);
            b[i] = b[i].map(|v| v * scale);
            for r in (0..4).filter(|&r| r != i) {
                let factor = a[r][i];
                for c in 0..4 {
                    a[r][c] -= factor * a[i][c];
                    b[r][c] -= factor * b[i][c];
                }
            }
        }
        Mat4(b).transposed()
    }

    /// The columns in single precision.
    pub fn columns(&self) -> [[f32; 4]; 4] {
        self.0.map(|c| c.map(|v| v as f32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inverse_undoes() {
        let m = Mat4::perspective(40.0, 1.5, 1.0, 9.0)
            .times(&Mat4::translate([1., 2., -4.]))
            .times(&Mat4::rotate(1, 30.0))
            .times(&Mat4::rotate(0, 20.0));
        let product = m.times(&m.inverse());
        for (c, column) in product.0.iter().enumerate() {
            for (r, v) in column.iter().enumerate() {
                assert!((v - if r == c { 1.0 } else { 0.0 }).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn near_and_far_meet_the_ends_of_depth() {
        let m = Mat4::perspective(60.0, 1.0, 2.0, 10.0);
        let depth = |z: f64| {
            let p = m.apply([0., 0., z, 1.]);
            p[2] / p[3]
        };
        assert!((depth(-2.0) + 1.0).abs() < 1e-12 && (depth(-10.0) - 1.0).abs() < 1e-12);
    }
}
