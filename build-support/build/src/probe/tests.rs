//! Probes of small sources.
