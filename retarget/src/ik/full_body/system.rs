//! The linear system of a step: six unknown vectors, of which the first is a shift and the others are turns.

use glam::{DMat3, DVec3, Vec3};
use nalgebra::{Cholesky, SMatrix, SVector};

/// Unknown vectors.
pub(super) const BLOCKS: usize = 6;
const SIZE: usize = 3 * BLOCKS;

/// How a point or a direction follows the unknowns; none does not.
pub(super) type Jacobian = [Option<DMat3>; BLOCKS];

/// `H Δ = −g`, the lower half of `H` alone.
#[derive(Clone, Debug)]
pub(super) struct System {
    h: SMatrix<f64, SIZE, SIZE>,
    g: SVector<f64, SIZE>,
}

impl System {
    pub(super) fn new() -> Self {
        Self {
            h: SMatrix::zeros(),
            g: SVector::zeros(),
        }
    }

    /// Adds something that follows the unknowns by `jacobian`, with the derivatives of its cost by its own place:
    /// half the gradient, and half the second derivative.
    pub(super) fn add(&mut self, jacobian: &Jacobian, second: DMat3, gradient: DVec3) {
        for (row, left) in jacobian.iter().enumerate() {
            let Some(left) = left else { continue };
            let back = left.transpose();
            self.add_vector(row, back * gradient);
            for (column, right) in jacobian.iter().enumerate().take(row + 1) {
                if let Some(right) = right {
                    self.add_block(row, column, back * second * *right);
                }
            }
        }
    }

    /// Adds a spring on one of the unknowns: its stiffness, and what it is off already.
    pub(super) fn hold(&mut self, block: usize, stiffness: f64, damped: f64, off: DVec3) {
        self.add_vector(block, off * stiffness);
        self.add_block(block, block, DMat3::from_diagonal(DVec3::splat(damped)));
    }

    fn add_vector(&mut self, block: usize, v: DVec3) {
        for (at, value) in v.to_array().into_iter().enumerate() {
            self.g[3 * block + at] += value;
        }
    }

    fn add_block(&mut self, row: usize, column: usize, block: DMat3) {
        for (y, values) in block.to_cols_array_2d().into_iter().enumerate() {
            for (x, value) in values.into_iter().enumerate() {
                self.h[(3 * row + x, 3 * column + y)] += value;
            }
        }
    }

    /// The step; none at all where there is no solution.
    pub(super) fn solve(&self) -> [Vec3; BLOCKS] {
        let Some(factor) = Cholesky::new(self.h) else {
            return [Vec3::ZERO; BLOCKS];
        };
        let step = factor.solve(&self.g);
        let mut out = [Vec3::ZERO; BLOCKS];
        for (block, out) in out.iter_mut().enumerate() {
            let at = |part: usize| -step[3 * block + part] as f32;
            let vector = Vec3::new(at(0), at(1), at(2));
            if vector.is_finite() {
                *out = vector;
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn springs_in_a_row_share_a_way_by_their_stiffness() {
        // A shift and a turn of lever 1 both move a point along z; it is pulled by 1 m. Springs of 1 and 3: the softer one
        // goes three times as far. k = 1e9 makes the goal as good as exact.
        let mut system = System::new();
        let lever = DVec3::X;
        // turn × lever, as a matrix on the turn.
        let turned = DMat3::from_cols(
            DVec3::X.cross(lever),
            DVec3::Y.cross(lever),
            DVec3::Z.cross(lever),
        );
        let mut jacobian: Jacobian = [None; BLOCKS];
        jacobian[0] = Some(DMat3::IDENTITY);
        jacobian[2] = Some(turned);
        let second = DMat3::from_diagonal(DVec3::splat(1e9));
        system.add(&jacobian, second, DVec3::Z * -1e9);
        for block in 0..BLOCKS {
            let stiffness = if block == 2 { 3.0 } else { 1.0 };
            system.hold(block, stiffness, stiffness, DVec3::ZERO);
        }
        let step = system.solve();
        assert!(step[0].distance(Vec3::Z * 0.75) < 1e-6, "{}", step[0]);
        // Y × X is −Z.
        assert!(step[2].distance(Vec3::Y * -0.25) < 1e-6, "{}", step[2]);
        assert_eq!(step[1], Vec3::ZERO);
    }

    #[test]
    fn without_springs_there_is_no_step() {
        assert_eq!(System::new().solve(), [Vec3::ZERO; BLOCKS]);
    }
}
