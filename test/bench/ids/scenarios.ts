/** Small captures and rules, each for one habit of Suricata, with the alerts that it gives. */
import { createTcpDialogue, datagram, type TimedFrame } from "./dialogue.ts";

/** Rules, a capture, and what comes of it. */
export interface Scenario {
  readonly name: string;
  readonly rules: readonly string[];
  readonly frames: readonly TimedFrame[];
  /** `stream.midstream` and `stream.async-oneside`. */
  readonly isMidstream?: boolean;
  readonly isOneSided?: boolean;
  /** Signature, direction, how often: `5>2` is signature 5 twice to the server. In this order of text. */
  readonly alerts: string;
  /** What our engine gives where that is another number of alerts, and why. */
  readonly ours?: { readonly alerts: string; readonly because: Deviation };
}

/** Where our engine differs on purpose. */
type Deviation = keyof typeof DEVIATIONS;

/** Why; the flows and directions that a rule alerts on are the same but for the last two. */
export const DEVIATIONS = {
  "at-the-hole": "what is behind a hole is looked at once, not with what was before it too",
  "at-once": "bytes are looked at when they come, not when they are acknowledged: pass rules take hold a packet or two earlier",
  "unfinished-head": "the host of a request is looked at though the head did not end",
} as const;


const REQUEST = "GET /evil HTTP/1.1\r\nHost: a.example\r\nUser-Agent: x\r\n\r\n";
const RESPONSE = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nevil!";
const BEGIN = 1_700_000_000_000_000;

const tcp = createTcpDialogue;
const web = () => tcp().handshake().up(REQUEST).down(RESPONSE);
const unknown = () => tcp({ serverPort: 9999 }).handshake();
const letters = (count: number) => "A".repeat(count);
const datagrams = (count: number, seconds: number) => Array.from({ length: count }, (_, at) => datagram(true, `evil${at}`, BEGIN + at * seconds * 1e6, { serverPort: 9999 }));

/** Rules `alert tcp any any -> any any (…)`, numbered from 1. A rule with a protocol, or an action and one, before its options has these. */
function numbered(...rules: readonly string[]): readonly string[] {
  return rules.map((rule, place) => {
    const [, action = "alert", protocol = "tcp", options = ""] = /^(?:(alert|pass|drop|reject) )?(?:([a-z0-9-]+) )?\|(.*)$/.exec(rule) ?? [];
    return `${action} ${protocol} any any -> any any (msg:"${place + 1}"; ${options} sid:${place + 1};)`;
  });
}

/** What each scenario asks is in its name. */
export const SCENARIOS: readonly Scenario[] = [
  {
    name: "contents of tcp are looked for in streams, with dsize and of tcp-pkt in packets",
    rules: numbered('|content:"evil";', 'tcp-pkt |content:"evil";', 'tcp-stream |content:"evil";', '|flow:established,to_server; content:"evil";', '|flow:only_stream; content:"evil";', '|flow:no_stream; content:"evil";', '|dsize:>10; content:"evil";', 'ip |content:"evil";', 'http |content:"evil";'),
    frames: web().close().frames, alerts: "1<1 1>1 2<1 2>1 3<1 3>1 4>1 5<1 5>1 6<1 6>1 7<1 7>1 8<1 8>1 9<1 9>1",
  },
  {
    name: "rules without contents are about each packet",
    rules: numbered("|flow:to_server;", "|flow:established;", "http |flow:to_client;", "|flags:S;", "http |", "|app-layer-protocol:http;"),
    frames: web().close().frames, alerts: "1>6 2<3 2>4 3<3 4>1 5<3 5>3 6<1 6>1",
  },
  {
    name: "a request in pieces is one request and one piece of stream",
    rules: numbered('|content:"GET /evil";', 'tcp-pkt |content:"GET /evil";', 'tcp-stream |content:"GET /evil";', 'http |http.uri; content:"evil";', 'http |content:"GET /evil";', '|content:"a.example"; offset:20;', '|content:"T";'),
    frames: tcp().handshake().up(REQUEST, { segment: 6 }).down(RESPONSE, { segment: 7 }).close().frames, alerts: "1>1 3>1 4>1 5>1 6>1 7<1 7>1",
  },
  {
    name: "a stream of no known protocol is looked at when it ends",
    rules: numbered('|content:"evil";', '|content:"two evil";', '|content:"evil"; offset:4; depth:4;', '|content:"evil"; content:"evil"; distance:0;', '|content:"none"; depth:7;'),
    frames: unknown().up("one evil\n").up("two evil\n").up("three evil\n").down("one evil\n").close().frames, alerts: "1<1 1>1 2>1 3<2 3>3 4>1",
  },
  {
    name: "a stream that nobody acknowledges is looked at when the flow ends",
    rules: numbered('|content:"evil";', 'tcp-stream |content:"evil";', 'tcp-pkt |content:"evil";'),
    frames: unknown().up("one evil\n", { isAcknowledged: false }).up("two evil\n", { isAcknowledged: false }).frames, alerts: "1>1 2>1 3>2",
  },
  {
    name: "a stream is looked at in pieces of 2,560 bytes or more",
    rules: numbered('|content:"MARK1";', '|content:"AAAA";', '|content:"HEAD"; depth:4;', '|content:!"HEAD";', '|content:"TAIL";', '|content:"HEAD"; content:"TAIL"; distance:0;'),
    frames: unknown().up(`HEAD${letters(9000)}MARK1${letters(500)}TAIL`).close().frames, alerts: "1>1 2>4 3>2 4>3 5>1",
  },
  {
    name: "where packets of a stream begin, rules with a depth are asked too",
    rules: numbered('|content:"HEAD"; depth:4;', '|content:"HEAD"; startswith;', '|flow:only_stream; content:"HEAD"; depth:4;', '|flow:only_stream; content:"AAAA"; depth:4;', '|pcre:"/^AAAA/";', "|byte_test:1,=,72,0;", '|content:"A"; offset:2900;'),
    frames: unknown().up(`HEAD${letters(9000)}`).up("HEAD again").close().frames, alerts: "1>3 2>3 3>1 4>3 5>3 6>1",
  },
  {
    name: "a hole divides a stream",
    rules: numbered('|content:"evil";', '|content:"one";', '|content:"two";', '|content:"eviltwo";'),
    frames: unknown().up("one evil").lose("client", 100).up("two evil").acknowledge("server").close().frames, alerts: "1>2 2>1 3>2", ours: { alerts: "1>2 2>1 3>1", because: "at-the-hole" },
  },
  {
    name: "behind the depth of streams packets are looked at",
    rules: numbered('|content:"MARK1";', '|content:"MARK2";', 'tcp-pkt |content:"MARK2";'),
    frames: unknown().up(`${letters(1_000_000)}MARK1`).up(`${letters(100_000)}MARK2`).close().frames, alerts: "1>1 2>1 3>1",
  },
  {
    name: "a connection joined late is packets alone",
    rules: numbered('|content:"evil";', 'tcp-stream |content:"evil";', 'tcp-pkt |content:"evil";', '|flow:established; content:"evil";', '|flow:to_server; content:"evil";', 'http |http.uri; content:"evil";', '|flow:to_client; content:"evil";', '|flow:not_established; content:"evil";', '|flow:stateless; content:"evil";'),
    frames: tcp().up(REQUEST).down(RESPONSE).close().frames, alerts: "1<1 1>1 2<1 2>1 3<1 3>1 5>1 7<1 8<1 8>1 9<1 9>1",
  },
  {
    name: "a connection joined late, where that is wanted, is as any other",
    rules: numbered('|content:"evil";', 'tcp-stream |content:"evil";', 'tcp-pkt |content:"evil";', '|flow:established; content:"evil";', '|flow:to_server; content:"evil";', 'http |http.uri; content:"evil";', '|flow:to_client; content:"evil";', '|flow:not_established; content:"evil";'),
    frames: tcp().up(REQUEST).down(RESPONSE).close().frames, isMidstream: true, alerts: "1<1 1>1 2<1 2>1 3<1 3>1 4<1 4>1 5>1 6>1 7<1",
  },
  {
    name: "of one side alone packets are seen",
    rules: numbered('|content:"evil";', 'tcp-stream |content:"evil";', 'tcp-pkt |content:"evil";', '|flow:established; content:"evil";', 'http |http.uri; content:"evil";'),
    frames: web().close().frames.filter(({ bytes }) => bytes[26] === 10), alerts: "1>1 2>1 3>1",
  },
  {
    name: "of one side alone, where that is wanted, the stream is seen",
    rules: numbered('|content:"evil";', 'tcp-stream |content:"evil";', 'tcp-pkt |content:"evil";', '|flow:established; content:"evil";', 'http |http.uri; content:"evil";'),
    frames: web().close().frames.filter(({ bytes }) => bytes[26] === 10), isOneSided: true, alerts: "1>1 2>1 3>1 4>1 5>1",
  },
  {
    name: "each transaction has its alert",
    rules: numbered('http |http.uri; content:"evil";', 'http |http.host; content:"a.example"; flowbits:set,x;', 'http |http.uri; content:"evil2"; flowbits:isset,x;', 'http |http.method; content:"GET"; threshold:type limit,track by_src,count 1,seconds 60;', '|content:"evil";'),
    frames: tcp().handshake().up([1, 2, 3].map((number) => `GET /evil${number} HTTP/1.1\r\nHost: a.example\r\n\r\n`).join("")).down("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".repeat(3)).close().frames, alerts: "1>3 2>3 3>1 4>1 5>1",
  },
  {
    name: "requests one after the other",
    rules: numbered('|content:"evil";', '|flow:to_server,established; content:"GET"; depth:3; content:"evil";', 'http |http.uri; content:"evil";', 'http |http.response_body; content:"evil";'),
    frames: web().up(REQUEST).down(RESPONSE).close().frames, alerts: "1<2 1>2 2>4 3>2 4<2",
  },
  {
    name: "a body is looked at as it grows, and alerts once",
    rules: numbered('http |http.response_body; content:"AAAA";', 'http |file.data; content:"AAAA";', 'http |http.response_body; content:"ZZZ";', 'http |file.data; content:!"QQ";', 'http |http.response_body; content:!"QQ";'),
    frames: tcp().handshake().up(REQUEST).down(`HTTP/1.1 200 OK\r\nContent-Length: 60003\r\n\r\n${letters(60_000)}ZZZ`).close().frames, alerts: "1<1 2<1 3<1 4<1 5<1",
  },
  {
    name: "an answer that does not end is looked at when the flow ends",
    rules: numbered('http |http.response_body; content:"AAAA";', 'http |file.data; content:"AAAA";', 'http |http.uri; content:"evil";', '|content:"AAAA";'),
    frames: tcp().handshake().up(REQUEST).down(`HTTP/1.1 200 OK\r\nContent-Length: 60003\r\n\r\n${letters(3000)}`).frames, alerts: "1<1 2<1 3>1 4<2",
  },
  {
    name: "a request whose head does not end is looked at when the flow ends",
    rules: numbered('http |http.method; content:"GET";', 'http |http.uri; content:"evil";', 'http |http.header; content:"User-Agent";', '|content:"evil";', 'http |http.header; content:!"Foo";', 'http |http.host; content:"a.example";'),
    frames: tcp().handshake().up("GET /evil HTTP/1.1\r\nHost: a.example\r\nUser-Agent: x\r\n").frames, alerts: "1>1 2>1 3>1 4>1 5>1", ours: { alerts: "1>1 2>1 3>1 4>1 5>1 6>1", because: "unfinished-head" },
  },
  {
    name: "headers are held against the packet's own direction",
    rules: [
      'alert http any any -> any 80 (http.uri; content:"evil"; sid:1;)', 'alert http any any -> any 8080 (http.uri; content:"evil"; sid:2;)', 'alert http any 80 -> any any (http.response_body; content:"evil"; sid:3;)',
      'alert http any any -> 203.0.113.9 any (http.response_body; content:"evil"; sid:4;)', 'alert http 203.0.113.9 any -> any any (flow:to_client; http.stat_code; content:"200"; sid:5;)', 'alert http any any <> any any (http.uri; content:"evil"; sid:6;)',
      'alert http any any -> any any (http.header; content:"Content-Length"; sid:7;)', 'alert http any any -> any any (http.protocol; content:"HTTP"; sid:8;)',
    ],
    frames: tcp({ serverPort: 8080 }).handshake().up(REQUEST).down(RESPONSE).close().frames, alerts: "2>1 5<1 6>1 7<1 8<1 8>1",
  },
  {
    name: "pass for a transaction passes the rest of the flow",
    rules: numbered('pass http |http.uri; content:"good";', 'http |http.uri; content:"evil";', '|flow:established;', 'tcp-pkt |content:"evil";'),
    frames: web().up(REQUEST.replace("evil", "good")).down(RESPONSE).up(REQUEST).down(RESPONSE).close().frames, alerts: "2>1 3<4 3>3 4<2 4>1", ours: { alerts: "2>1 3<2 3>3 4<1 4>1", because: "at-once" },
  },
  {
    name: "pass for a packet passes the packet",
    rules: numbered(`pass |dsize:${REQUEST.length}; content:"evil";`, 'http |http.uri; content:"evil";', '|content:"evil";', "|flow:established;", 'tcp-pkt |content:"evil";'),
    frames: web().close().frames, alerts: "2>1 3<1 3>1 4<3 4>3 5<1", ours: { alerts: "3<1 4<3 4>3 5<1", because: "at-once" },
  },
  {
    name: "pass for a stream passes the rest of the flow",
    rules: numbered('pass |flow:to_server; content:"evil";', 'http |http.uri; content:"evil";', '|content:"evil";', 'http |http.response_body; content:"evil";', 'tcp-pkt |content:"evil";'),
    frames: web().close().frames, alerts: "5<1 5>1", ours: { alerts: "5>1", because: "at-once" },
  },
  { name: "pass for a datagram passes the datagram", rules: numbered('pass udp |content:"evil1";', 'udp |content:"evil";'), frames: datagrams(4, 1), alerts: "2>3" },
  { name: "pass for an address passes all", rules: ["pass ip 10.0.0.5 any -> any any (sid:1;)", ...numbered("|flow:established;", 'http |http.uri; content:"evil";').map((rule) => rule.replace("sid:1", "sid:3"))], frames: web().close().frames, alerts: "" },
  { name: "drop for a transaction ends the flow's inspection", rules: numbered('drop http |http.uri; content:"evil";', '|content:"evil";'), frames: web().close().frames, alerts: "1>1 2>1" },
  { name: "drop and reject for datagrams", rules: numbered('drop udp |content:"evil0";', 'reject udp |content:"evil1";', 'udp |content:"evil";'), frames: datagrams(4, 1), alerts: "1>1 2>1 3>4" },
  {
    name: "datagrams, one by one",
    rules: numbered('udp |content:"evil";', 'udp |flow:established; content:"evil";', 'udp |flow:to_server; content:"evil";', 'udp |flow:to_client; content:"evil";', "udp |dsize:5;", 'udp |flow:not_established; content:"evil";', 'ip |content:"evil";'),
    frames: [...datagrams(2, 1), datagram(false, "evil!", BEGIN + 3e6, { serverPort: 9999 }), datagram(true, "evil!", BEGIN + 4e6, { serverPort: 9999 })], alerts: "1<1 1>3 2<1 2>1 3>3 4<1 5<1 5>3 6>2 7<1 7>3",
  },
  {
    name: "both ways, and ports",
    rules: ['alert udp any 9999 <> any any (content:"evil"; sid:1;)', 'alert udp any any -> any 9999 (content:"evil"; sid:2;)', 'alert udp any 9999 -> any any (content:"evil"; sid:3;)', 'alert udp 10.0.0.5 any <> 203.0.113.9 any (content:"evil"; sid:4;)'],
    frames: [...datagrams(1, 1), datagram(false, "evil!", BEGIN + 3e6, { serverPort: 9999 })], alerts: "1<1 1>1 2>1 3<1 4<1 4>1",
  },
  ...([["limit", 2, 10, 1, 25, "1>6"], ["limit", 1, 10, 10, 5, "1>3"], ["limit", 1, 10, 5, 8, "1>3"], ["threshold", 3, 10, 1, 25, "1>7"], ["threshold", 3, 10, 5, 12, "1>4"], ["both", 3, 10, 1, 25, "1>3"], ["both", 2, 10, 5, 12, "1>4"]] as const).map(([type, count, seconds, gap, times, alerts]) => ({
    name: `threshold ${type}, ${count} in ${seconds} seconds, of ${times} every ${gap}`, rules: numbered(`udp |content:"evil"; threshold:type ${type},track by_src,count ${count},seconds ${seconds};`), frames: datagrams(times, gap), alerts,
  })),
  ...([[3, 10, 1, 25, "1>16"], [3, 10, 5, 12, ""], [2, 10, 4, 8, "1>2"]] as const).map(([count, seconds, gap, times, alerts]) => ({
    name: `detection_filter, ${count} in ${seconds} seconds, of ${times} every ${gap}`, rules: numbered(`udp |content:"evil"; detection_filter:track by_src,count ${count},seconds ${seconds};`), frames: datagrams(times, gap), alerts,
  })),
  {
    name: "flowbits are set before they are asked for, whatever the order of rules",
    rules: numbered('udp |content:"evil"; flowbits:isset,a;', 'udp |content:"evil0"; flowbits:set,a;', 'udp |content:"evil"; flowbits:isnotset,a;', 'udp |content:"evil2"; flowbits:unset,a;', 'udp |content:"evil"; flowbits:set,b; flowbits:noalert;', "udp |flowbits:isset,b;", 'udp |content:"evil"; flowbits:toggle,c;', 'udp |flowbits:isset,c; content:"evil";', 'udp |content:"nope"; flowbits:set,d;', "udp |flowbits:isset,d|a;"),
    frames: datagrams(5, 1), alerts: "10>2 1>2 2>1 3>3 4>1 6>5 7>5 8>3",
  },
  {
    name: "flowbits of a request hold for its answer",
    rules: numbered('http |http.uri; content:"evil"; flowbits:set,a; flowbits:noalert;', 'http |http.response_body; content:"evil"; flowbits:isset,a;', 'http |http.stat_code; content:"200"; flowbits:isset,a;', '|flow:to_client; content:"evil"; flowbits:isset,a;'),
    frames: web().close().frames, alerts: "2<1 3<1 4<1",
  },
  {
    name: "xbits hold up to their last second",
    rules: numbered('udp |content:"evil0"; xbits:set,x,track ip_src,expire 3;', 'udp |content:"evil"; xbits:isset,x,track ip_src;', 'udp |content:"evil"; xbits:isset,x,track ip_dst;', 'udp |content:"evil"; xbits:isnotset,x,track ip_src;'),
    frames: datagrams(7, 1), alerts: "1>1 2>3 4>4",
  },
  {
    name: "xbits of a host hold in the other direction",
    rules: numbered('udp |content:"evil0"; xbits:set,x,track ip_src;', 'udp |content:"back"; xbits:isset,x,track ip_dst;', 'udp |content:"evil0"; xbits:set,p,track ip_pair;', 'udp |content:"back"; xbits:isset,p,track ip_pair;'),
    frames: [...datagrams(1, 1), datagram(false, "back", BEGIN + 2e6, { serverPort: 9999 })], alerts: "1>1 2<1 3>1 4<1",
  },
  {
    name: "flowint counts in a flow",
    rules: numbered('udp |content:"evil"; flowint:count,+,1;', 'udp |content:"evil"; flowint:count,>,2;', 'udp |content:"evil"; flowint:count,isset;', 'udp |content:"evil"; flowint:count,notset; flowint:count,=,0;'),
    frames: datagrams(6, 1), alerts: "1>6 2>4 3>6",
  },
];
