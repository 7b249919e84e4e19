mod client;
mod gate;
mod live;
mod routes;
mod setup;
mod tensors;
