"""Several hosts in network namespaces, with real multicast and real cuts; nothing leaves the machine."""
