//! Single elements that the orchestration itself reads and writes.

use std::sync::Arc;

use argus_abi::{FatalCode, TaskId, Tensor};
use bytemuck::Pod;

use super::{Trb, pending};
use crate::error::Fatal;
use crate::schedule::task::Task;

impl Trb {
    /// Reads one element, after every task that writes it.
    pub fn get_tensor_data<T: Pod>(&mut self, tensor: &Tensor, index: &[u32]) -> Result<T, Fatal> {
        self.check_width(tensor, size_of::<T>())?;
        let mut value = T::zeroed();
        self.read_element(tensor, index, bytemuck::bytes_of_mut(&mut value))?;
        Ok(value)
    }

    /// Writes one element, after every task that writes or reads it.
    pub fn set_tensor_data<T: Pod>(&mut self, tensor: &Tensor, index: &[u32], value: T) -> Result<(), Fatal> {
        self.check_width(tensor, size_of::<T>())?;
        self.write_element(tensor, index, bytemuck::bytes_of(&value))
    }

    /// Reads the raw bits of one element of any width, zero-extended.
    pub fn get_tensor_bits(&mut self, tensor: &Tensor, index: &[u32]) -> Result<u64, Fatal> {
        let mut bytes = [0u8; 8];
        let width = tensor.dtype().map_or(0, |dtype| dtype.size());
        self.read_element(tensor, index, &mut bytes[..width])?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// Writes the low bits of a number to one element of any width.
    pub fn set_tensor_bits(&mut self, tensor: &Tensor, index: &[u32], bits: u64) -> Result<(), Fatal> {
        let width = tensor.dtype().map_or(0, |dtype| dtype.size());
        self.write_element(tensor, index, &bits.to_le_bytes()[..width])
    }

    fn read_element(&mut self, tensor: &Tensor, index: &[u32], bytes: &mut [u8]) -> Result<(), Fatal> {
        let (element, writers) = self.element(tensor, index)?;
        self.wait_for_all(&writers, "get_tensor_data")?;
        let read = self.frame.memory.read(element.data_addr().unwrap_or(0), bytes);
        read.map_err(|error| self.frame.fail(Fatal::invalid(error.to_string())))
    }

    fn write_element(&mut self, tensor: &Tensor, index: &[u32], bytes: &[u8]) -> Result<(), Fatal> {
        let (element, mut tasks) = self.element(tensor, index)?;
        let allocation = self.allocation(&element)?;
        self.map.readers(allocation, &element, |found| tasks.extend(pending(found)));
        self.wait_for_all(&tasks, "set_tensor_data")?;
        let write = self.frame.memory.write(element.data_addr().unwrap_or(0), bytes);
        write.map_err(|error| self.frame.fail(Fatal::invalid(error.to_string())))
    }

    fn check_width(&mut self, tensor: &Tensor, bytes: usize) -> Result<(), Fatal> {
        self.frame.check()?;
        let width = tensor.dtype().map_or(0, |dtype| dtype.size());
        if width != bytes {
            let message = format!("an element of {width} bytes cannot be accessed as {bytes} bytes");
            return Err(self.frame.fail(Fatal::invalid(message)));
        }
        Ok(())
    }

    /// The view of one element, and the tasks that write it.
    fn element(&mut self, tensor: &Tensor, index: &[u32]) -> Result<(Tensor, Vec<Arc<Task>>), Fatal> {
        self.frame.check()?;
        let element = self.frame.element(tensor, index)?;
        let mut tasks: Vec<Arc<Task>> = self.frame.creator(tensor)?.into_iter().collect();
        let allocation = self.allocation(&element)?;
        self.map.writers(allocation, &element, |found| tasks.extend(pending(found)));
        self.inner.add_boundary(&mut tasks);
        Ok((element, tasks))
    }

    fn wait_for_all(&mut self, tasks: &[Arc<Task>], what: &str) -> Result<(), Fatal> {
        let waiting = || tasks.iter().find(|task| !task.is_complete()).map(|task| task.id);
        let Some(first) = waiting() else { return Ok(()) };
        if self.frame.ahead {
            let message = format!(
                "{what} asks for bytes that task {first} uses, but a host-built graph runs only when it is whole"
            );
            return Err(self.frame.fail(Fatal::invalid(message)));
        }
        let (deadline, limit) = self.frame.tensor_deadline();
        if self.frame.wait_until(deadline, |_| waiting().is_none())? {
            return Ok(());
        }
        let message = format!("{what} waited {limit:?} for task {}", waiting().unwrap_or(TaskId::INVALID));
        Err(self.frame.fail(Fatal::new(FatalCode::TensorWaitTimeout, message)))
    }
}
