"""Numbers of users: given in any form, kept exactly, said as short decimals that are true."""
