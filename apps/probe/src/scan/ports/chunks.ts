/** Questions that are under way together: a bit for each is held, so half a megabyte, however large the scan is. */
export const CHUNK_QUESTIONS = 2 ** 22;
/** Ports of a host in one chunk, so that a few hosts do not get all of it at once. */
const CHUNK_PORTS = 2 ** 14;

/** Hosts and ports that are asked together. */
export interface Chunk<T> {
  readonly hosts: readonly T[];
  readonly ports: readonly number[];
}

/** Cuts hosts × ports into chunks, each made when its turn comes. */
export function* chunksOf<T>(hosts: readonly T[], ports: readonly number[]): Generator<Chunk<T>> {
  for (let port = 0; port < ports.length; port += CHUNK_PORTS) {
    const some = ports.slice(port, port + CHUNK_PORTS);
    const together = Math.max(1, Math.floor(CHUNK_QUESTIONS / some.length));
    for (let host = 0; host < hosts.length; host += together) yield { hosts: hosts.slice(host, host + together), ports: some };
  }
}
