//! The linear system of one step: weighted rows, solved by Cholesky. All of its memory is there from the start.

use glam::{Mat3, Vec3};

use super::MAX_BODY_GOALS;

const MAX_ROWS: usize = 6 * MAX_BODY_GOALS;

/// Stiffness with which a joint is held at its limit.
pub(super) const HOLD: f32 = 1e5;

/// `(B Bᵀ + C) y = e + B M^(1/2) u`, with `B = J M^(−1/2)`; the step is `M^(−1/2) Bᵀ y − u`.
///
/// Columns come in blocks of three: the shift of the root, then a turn per joint. M of a block is stiffness and damping in
/// all directions, and [`HOLD`] more along the normal of a limit; u is what the block would undo by itself.
#[derive(Clone, Debug)]
pub(super) struct System {
    num_cols: usize,
    num_rows: usize,
    /// J, `MAX_ROWS × num_cols`, row after row.
    jacobian: Vec<f32>,
    /// B, likewise.
    rows: Vec<f32>,
    /// `MAX_ROWS × MAX_ROWS`, its lower half.
    matrix: Vec<f32>,
    errors: Vec<f32>,
    compliance: Vec<f32>,
    right: Vec<f32>,
    blocks: Vec<Block>,
}

#[derive(Clone, Copy, Debug)]
struct Block {
    deviation: Vec3,
    stiffness: f32,
    damping: f32,
    /// Unit vector; zero where no limit holds.
    normal: Vec3,
    /// By how much the block is beyond its limit, along the normal.
    over: f32,
    step: Vec3,
}

impl Block {
    /// `v` times a number square to the normal and another along it.
    fn scale(&self, v: Vec3, square: f32, along: f32) -> Vec3 {
        let part = self.normal * v.dot(self.normal);
        (v - part) * square + part * along
    }

    /// The two values of `M^(−1/2)`.
    fn roots(&self) -> (f32, f32) {
        let square = self.stiffness + self.damping;
        (square.sqrt().recip(), (square + HOLD).sqrt().recip())
    }

    /// u.
    fn undo(&self) -> Vec3 {
        let pull = self.deviation * self.stiffness + self.normal * (self.over * HOLD);
        let (square, along) = self.roots();
        self.scale(pull, square * square, along * along)
    }
}

impl System {
    pub(super) fn new(num_joints: usize) -> Self {
        let block = Block {
            deviation: Vec3::ZERO,
            stiffness: 1.0,
            damping: 0.0,
            normal: Vec3::ZERO,
            over: 0.0,
            step: Vec3::ZERO,
        };
        let num_cols = 3 * (num_joints + 1);
        Self {
            num_cols,
            num_rows: 0,
            jacobian: vec![0.0; MAX_ROWS * num_cols],
            rows: vec![0.0; MAX_ROWS * num_cols],
            matrix: vec![0.0; MAX_ROWS * MAX_ROWS],
            errors: vec![0.0; MAX_ROWS],
            compliance: vec![1.0; MAX_ROWS],
            right: vec![0.0; MAX_ROWS],
            blocks: vec![block; num_joints + 1],
        }
    }

    pub(super) fn clear_rows(&mut self) {
        self.num_rows = 0;
    }

    /// Three rows with what they miss.
    pub(super) fn push_error(&mut self, error: Vec3, compliance: f32) {
        for value in error.to_array() {
            self.errors[self.num_rows] = value;
            self.compliance[self.num_rows] = compliance;
            self.num_rows += 1;
        }
    }

    pub(super) fn set_deviation(&mut self, block: usize, deviation: Vec3) {
        self.blocks[block].deviation = deviation;
    }

    /// Also lets go of a limit.
    pub(super) fn set_stiffness(&mut self, block: usize, stiffness: f32, damping: f32) {
        let block = &mut self.blocks[block];
        block.stiffness = stiffness;
        block.damping = damping;
        block.normal = Vec3::ZERO;
        block.over = 0.0;
    }

    /// Holds a block along a unit normal, so that its step along it becomes `-over`.
    pub(super) fn hold(&mut self, block: usize, normal: Vec3, over: f32) {
        self.blocks[block].normal = normal;
        self.blocks[block].over = over;
    }

    /// Empties the three rows from `row` on.
    pub(super) fn begin_rows(&mut self, row: usize) {
        self.jacobian[row * self.num_cols..(row + 3) * self.num_cols].fill(0.0);
    }

    /// The derivative of three rows by a block.
    pub(super) fn put(&mut self, row: usize, block: usize, derivative: Mat3) {
        let lines = derivative.transpose().to_cols_array_2d();
        for (i, line) in lines.iter().enumerate() {
            let at = (row + i) * self.num_cols + 3 * block;
            self.jacobian[at..at + 3].copy_from_slice(line);
        }
    }

    pub(super) fn step(&self, block: usize) -> Vec3 {
        self.blocks[block].step
    }

    pub(super) fn solve(&mut self) {
        let (n, cols) = (self.num_rows, self.num_cols);
        self.right[..n].copy_from_slice(&self.errors[..n]);
        for (k, block) in self.blocks.iter().enumerate() {
            let undo = block.undo();
            let (square, along) = block.roots();
            for i in 0..n {
                let at = i * cols + 3 * k;
                let line = Vec3::from_slice(&self.jacobian[at..at + 3]);
                let weighted = block.scale(line, square, along);
                self.rows[at..at + 3].copy_from_slice(&weighted.to_array());
                self.right[i] += line.dot(undo);
            }
        }
        let row = |i: usize| &self.rows[i * cols..(i + 1) * cols];
        for i in 0..n {
            for j in 0..=i {
                self.matrix[i * MAX_ROWS + j] = dot(row(i), row(j));
            }
            self.matrix[i * MAX_ROWS + i] += self.compliance[i];
        }
        self.factor();
        self.substitute();
        for (k, block) in self.blocks.iter_mut().enumerate() {
            let mut sum = Vec3::ZERO;
            for i in 0..n {
                let at = i * cols + 3 * k;
                sum += Vec3::from_slice(&self.rows[at..at + 3]) * self.right[i];
            }
            let (square, along) = block.roots();
            block.step = block.scale(sum, square, along) - block.undo();
        }
    }

    /// Cholesky: the lower half becomes L of `L Lᵀ`.
    fn factor(&mut self) {
        for i in 0..self.num_rows {
            let (above, own) = self.matrix.split_at_mut(i * MAX_ROWS);
            for j in 0..i {
                let other = &above[j * MAX_ROWS..=j * MAX_ROWS + j];
                let rest = own[j] - dot(&own[..j], &other[..j]);
                own[j] = rest / other[j];
            }
            // Rounding may leave less than the compliance that was put there.
            let rest = own[i] - dot(&own[..i], &own[..i]);
            own[i] = rest.max(0.1 * self.compliance[i]).sqrt();
        }
    }

    /// `right` becomes y.
    fn substitute(&mut self) {
        let n = self.num_rows;
        for i in 0..n {
            let line = &self.matrix[i * MAX_ROWS..=i * MAX_ROWS + i];
            let rest = self.right[i] - dot(&line[..i], &self.right[..i]);
            self.right[i] = rest / line[i];
        }
        for i in (0..n).rev() {
            let mut rest = self.right[i];
            for j in i + 1..n {
                rest -= self.matrix[j * MAX_ROWS + i] * self.right[j];
            }
            self.right[i] = rest / self.matrix[i * MAX_ROWS + i];
        }
    }
}

/// Sum of products, eight at a time: the compiler does not reorder sums of floats by itself.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let mut sums = [0.0f32; 8];
    for (x, y) in a.iter().zip(b) {
        for (sum, (x, y)) in sums.iter_mut().zip(x.iter().zip(y)) {
            *sum += x * y;
        }
    }
    let tail: f32 = a_rest.iter().zip(b_rest).map(|(x, y)| x * y).sum();
    sums.iter().sum::<f32>() + tail
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_row_of_one_joint_has_the_textbook_answer() {
        // J = I, D = 4, C = 0.5, d = 0, e = 1: y = 1 / (1/4 + 1/2) = 4/3, step = y / 4 = 1/3.
        let mut system = System::new(1);
        system.clear_rows();
        system.push_error(Vec3::X, 0.5);
        system.set_deviation(1, Vec3::ZERO);
        system.set_stiffness(0, 1.0, 0.0);
        system.set_stiffness(1, 4.0, 0.0);
        system.begin_rows(0);
        system.put(0, 1, Mat3::IDENTITY);
        system.solve();
        assert!((system.step(1) - Vec3::new(1.0 / 3.0, 0.0, 0.0)).length() < 1e-6);
        assert_eq!(system.step(0), Vec3::ZERO);
    }

    #[test]
    fn a_step_is_the_minimum_of_its_own_model() {
        // Two blocks, two goals, all mixed: the gradient of the model vanishes at the step.
        let (j, k) = (
            Mat3::from_cols_array(&[1.0, 0.2, -0.3, 0.0, 0.7, 0.4, 0.5, -0.1, 0.9]),
            Mat3::from_cols_array(&[0.3, -0.6, 0.1, 0.8, 0.2, 0.0, -0.2, 0.5, 0.4]),
        );
        let (e0, e1) = (Vec3::new(0.3, -0.2, 0.5), Vec3::new(-0.4, 0.1, 0.2));
        let (d0, d1) = (Vec3::new(0.1, 0.2, -0.1), Vec3::new(-0.3, 0.0, 0.2));
        let (s0, s1, mu, c0, c1) = (2.0, 0.5, 0.3, 0.1, 0.02);
        let mut system = System::new(1);
        system.clear_rows();
        system.push_error(e0, c0);
        system.push_error(e1, c1);
        system.set_deviation(0, d0);
        system.set_deviation(1, d1);
        system.set_stiffness(0, s0, mu);
        system.set_stiffness(1, s1, mu);
        system.begin_rows(0);
        system.put(0, 0, j);
        system.put(0, 1, k);
        system.begin_rows(3);
        system.put(3, 0, k);
        system.put(3, 1, j);
        system.solve();
        let (x, y) = (system.step(0), system.step(1));
        let (r0, r1) = (e0 - j * x - k * y, e1 - k * x - j * y);
        let (jt, kt) = (j.transpose(), k.transpose());
        let by_x = (d0 + x) * s0 + x * mu - jt * r0 / c0 - kt * r1 / c1;
        let by_y = (d1 + y) * s1 + y * mu - kt * r0 / c0 - jt * r1 / c1;
        assert!(
            by_x.length() < 1e-4 && by_y.length() < 1e-4,
            "{by_x} {by_y}"
        );
    }

    #[test]
    fn a_held_block_moves_only_square_to_its_normal() {
        let mut system = System::new(1);
        system.clear_rows();
        system.push_error(Vec3::new(1.0, 1.0, 0.0), 1e-3);
        system.set_deviation(1, Vec3::ZERO);
        system.set_stiffness(0, 1.0, 0.0);
        system.set_stiffness(1, 1.0, 0.0);
        system.hold(1, Vec3::X, 0.2);
        system.begin_rows(0);
        system.put(0, 1, Mat3::IDENTITY);
        system.solve();
        let step = system.step(1);
        // Along the normal back by 0.2; the goal pulls by at most 1.2/1e-3 against 1e5.
        assert!((step.x + 0.2).abs() < 0.02, "{step}");
        // Square to it 1 / (1 + 1e-3).
        assert!((step.y - 0.999).abs() < 1e-4, "{step}");
    }

    #[test]
    fn a_sum_of_products_has_all_of_them() {
        let a: Vec<f32> = (0..21).map(|i| i as f32).collect();
        // 0² + … + 20².
        assert_eq!(dot(&a, &a), 2870.0);
    }
}
