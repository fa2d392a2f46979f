/** Sums up libpcap's 32-bit counters, and keeps the last figures when the handle is closed. */
export function createKernelCounters(read: () => { readonly ps_drop: number; readonly ps_ifdrop: number }): () => {
  readonly droppedByKernel: number;
  readonly droppedByInterface: number;
} {
  let kernel = 0;
  let last = 0;
  let atInterface = 0;
  return () => {
    try {
      const stats = read();
      kernel += (stats.ps_drop - last) >>> 0;
      last = stats.ps_drop;
      atInterface = stats.ps_ifdrop;
    } catch {
      // Closed: the last figures stand.
    }
    return { droppedByKernel: kernel, droppedByInterface: atInterface };
  };
}
