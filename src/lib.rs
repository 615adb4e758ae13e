//! nodeform plans the nodes of a Kubernetes cluster on Azure.
