/** An empty cache that has no room. @see https://github.com/memcached/memcached/blob/1.6.9/doc/protocol.txt */
import type { Service } from "../service.ts";
import { createLineReader, splitCommand } from "../line-reader.ts";

const STORES: ReadonlySet<string> = new Set(["SET", "ADD", "REPLACE", "APPEND", "PREPEND", "CAS"]);
const READS: ReadonlySet<string> = new Set(["GET", "GETS", "GAT", "GATS"]);

/** Knows no key and keeps none. */
export const memcached: Service = (peer, stage) => {
  let isData = false;
  return createLineReader((line) => {
    if (isData) {
      isData = false;
      return peer.send("SERVER_ERROR out of memory storing object\r\n");
    }
    const { verb, rest } = splitCommand(line);
    if (verb === "QUIT") return peer.end();
    if (verb === "VERSION") return peer.send(`VERSION ${stage.persona.memcached}\r\n`);
    peer.reached("command", "", line.slice(0, 256));
    if (STORES.has(verb)) {
      // The value follows as a line of its own.
      isData = rest.split(" ").length >= 4;
      if (!isData) peer.send("ERROR\r\n");
    } else if (READS.has(verb)) peer.send("END\r\n");
    else if (verb === "STATS") peer.send(`STAT version ${stage.persona.memcached}\r\nSTAT curr_items 0\r\nSTAT total_items 0\r\nSTAT bytes 0\r\nEND\r\n`);
    else peer.send(verb === "FLUSH_ALL" ? "OK\r\n" : "ERROR\r\n");
  });
};
