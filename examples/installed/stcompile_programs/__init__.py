"""Programs around the compiler, which import it as any program does and are installed with it."""
