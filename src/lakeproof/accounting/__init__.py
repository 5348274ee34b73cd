"""Every input record of a pipeline is accounted for."""
