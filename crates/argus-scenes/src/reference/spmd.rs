//! The scenes whose kernels only say where they ran: each writes one 64-byte line of a shared buffer.
//!
//! One line per writer, because cores write back whole lines: two writers in one would undo each other.

/// Elements of a line.
pub const LINE: usize = 16;

/// Lines of a block whose three members each write one, in this order: matrix core, first and second vector
/// core.
pub const MIX_MEMBERS: usize = 3;

/// Blocks of each task of `spmd_multiblock_aiv`.
pub const MULTIBLOCK_AIV: [usize; 5] = [4, 16, 24, 48, 96];
/// Blocks of each task of `spmd_multiblock_mix`.
pub const MULTIBLOCK_MIX: [usize; 5] = [2, 8, 12, 24, 48];
/// Blocks of each task of `spmd_sync_start`; all but the last start in step.
pub const SYNC_START: [usize; 4] = [2, 12, 23, 3];

/// Tasks lie one after the other; within a task, block after block; within a block, member after member.
/// Element 0 of every line is the block's index in its task, all else is 0.
pub fn block_index_lines(blocks_of_tasks: &[usize], members: usize) -> Vec<f32> {
    let indices = blocks_of_tasks.iter().flat_map(|&blocks| 0..blocks);
    indices.flat_map(|index| std::iter::repeat_n(line(&[index]), members)).flatten().collect()
}

pub fn multiblock_aiv_golden() -> Vec<f32> {
    block_index_lines(&MULTIBLOCK_AIV, 1)
}

pub fn multiblock_mix_golden() -> Vec<f32> {
    block_index_lines(&MULTIBLOCK_MIX, MIX_MEMBERS)
}

pub fn sync_start_golden() -> Vec<f32> {
    block_index_lines(&SYNC_START, MIX_MEMBERS)
}

/// `spmd_basic`: one task of one block. Each member's line starts with its block index, the number of blocks
/// and its sub-block id, which tells the two vector cores of a cluster apart.
pub fn basic_golden() -> Vec<f32> {
    let (block_idx, block_num) = (0, 1);
    let (aic, aiv0, aiv1) = (0, 0, 1);
    [aic, aiv0, aiv1]
        .into_iter()
        .flat_map(|sub_block_id| line(&[block_idx, block_num, sub_block_id]))
        .collect()
}

fn line(start: &[usize]) -> [f32; LINE] {
    let mut line = [0.0; LINE];
    for (element, &value) in line.iter_mut().zip(start) {
        *element = value as f32;
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first_of_lines(buffer: &[f32]) -> Vec<f32> {
        buffer.chunks_exact(LINE).map(|line| line[0]).collect()
    }

    #[test]
    fn block_indices_start_again_with_each_task() {
        assert_eq!(first_of_lines(&block_index_lines(&[2, 3], 1)), [0.0, 1.0, 0.0, 1.0, 2.0]);
        let mix = block_index_lines(&[2, 1], MIX_MEMBERS);
        assert_eq!(first_of_lines(&mix), [0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn only_the_first_element_of_a_line_is_written() {
        let buffer = multiblock_mix_golden();
        assert!(buffer.iter().enumerate().all(|(index, &value)| index % LINE == 0 || value == 0.0));
    }

    #[test]
    fn scenes_have_a_line_for_every_kernel_call() {
        assert_eq!(multiblock_aiv_golden().len(), 188 * LINE);
        assert_eq!(multiblock_mix_golden().len(), 282 * LINE);
        assert_eq!(sync_start_golden().len(), 3 * 40 * LINE);
    }

    #[test]
    fn positions_follow_from_the_tasks_before() {
        // Block 95 of the last task, after 4 + 16 + 24 + 48 lines.
        assert_eq!(multiblock_aiv_golden()[(92 + 95) * LINE], 95.0);
        // Second vector core of block 7 of the second task, after the 2 blocks of the first.
        assert_eq!(multiblock_mix_golden()[(3 * 2 + 3 * 7 + 2) * LINE], 7.0);
    }

    #[test]
    fn basic_tells_the_lanes_apart() {
        let buffer = basic_golden();
        let starts: Vec<&[f32]> = buffer.chunks_exact(LINE).map(|line| &line[..3]).collect();
        assert_eq!(starts, [[0.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 1.0, 1.0]]);
        assert_eq!(buffer.iter().sum::<f32>(), 4.0);
    }
}
