import { DHCP_MESSAGE_TYPE, DHCP_OP, dhcpHostName, dhcpMessageType, type DhcpMessage, formatMac } from "@lanthorn/packets";
import { macNumber } from "../addresses/mac-number.ts";
import { createBoundedMap } from "../../bounded-map.ts";
import type { Guard, GuardDeps, GuardFrame } from "../guard.ts";
import { createSearch } from "../search.ts";
import { createExhaustion } from "./exhaustion.ts";
import { createMissingServer } from "./missing-server.ts";
import { createServerJudge } from "./server-judge.ts";
import { chosenServer, readServerMessage } from "./server-message.ts";
import { encodeServerSearch } from "./server-search.ts";

const NAME = "DHCP servers";
/** Hosts whose names are known by their own questions; those heard of first make room. */
const MAX_NAMES = 4096;
const MAX_NAME = 64;

/**
 * Finds DHCP servers that do not belong to the link, the lack of one, and who drains a server's pool. It listens, and asks all servers for
 * offers; it never takes one.
 * @see RFC 2131
 */
export function createDhcpServersGuard(deps: GuardDeps): Guard {
  const { clock, incidents } = deps;
  const names = createBoundedMap<string, string>(MAX_NAMES);
  const search = createSearch({ ...deps, encode: encodeServerSearch, idBits: 32, onAsked: (now) => missing.searched(now) });
  const judge = createServerJudge({ ...deps, guard: NAME, onHint: search.hint, hostName: (mac) => names.get(mac) ?? "" });
  const missing = createMissingServer({ clock, incidents, expectsAnswer: judge.expectsAnswer, onHint: search.hint });
  const exhaustion = createExhaustion({ clock, incidents });

  function hearClient(message: DhcpMessage, { captured, frame }: GuardFrame): void {
    const { sourceMac } = frame;
    const type = dhcpMessageType(message.options);
    // A decline is a client's word that the address is in use, and no question for one.
    const asks = type === DHCP_MESSAGE_TYPE.discover || type === DHCP_MESSAGE_TYPE.request;
    const isRelayed = message.giaddr.some((byte) => byte !== 0);
    if (!asks || !sourceMac || message.chaddr.length !== 6 || isRelayed) return;
    const client = formatMac(message.chaddr);
    if (client === deps.link()?.mac) return;
    const name = dhcpHostName(message.options);
    if (name) names.put(client, name.slice(0, MAX_NAME));
    const vlanId = frame.vlanTags.at(-1)?.vlanId || null;
    const number = macNumber(message.chaddr);
    exhaustion.asked(number, message, { frame, packet: captured.bytes });
    if (type === DHCP_MESSAGE_TYPE.discover) return missing.asked(vlanId, number);
    const server = chosenServer(message);
    if (server === null) return;
    missing.answered(vlanId);
    judge.chosen(server, { vlanId, client, packet: captured.bytes });
  }
  const lives = ({ frame }: GuardFrame) => exhaustion.lives(macNumber(frame.bytes, frame.sourceMacOffset));

  return {
    name: NAME,
    onDhcp(message, at) {
      if (message.op === DHCP_OP.bootRequest) return hearClient(message, at);
      const said = readServerMessage(message, at);
      // The probe asks only: an answer from our MAC is another program's of this machine, or another host's.
      if (!said) return;
      if (!said.isBootOnly && !said.isToRelay) missing.answered(said.vlanId);
      judge.hear(said, search.isOwn(message.xid));
    },
    onArp: (_, at) => lives(at),
    onNdp: (_, at) => lives(at),
    onUdp: lives,
    tick(now) {
      exhaustion.tick(now);
      missing.tick(now, exhaustion.isOpen());
      judge.tick(now);
      search.tick(now, judge.isSuspicious() || missing.isWaiting());
    },
    learned: judge.learned,
  };
}
