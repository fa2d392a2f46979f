/** Keywords that compare one number, as rows of a table. */

import type { NumberField } from "../condition.ts";
import { needApplications } from "../draft.ts";
import { lookUp } from "../text/look-up.ts";
import { parseNumberTest } from "../text/numbers.ts";
import type { Keyword } from "./keyword.ts";

type Row = readonly [field: NumberField, bits: 8 | 16 | 32 | 64, applications?: string, words?: Readonly<Record<string, number>>];

const DNS_OPCODES = { query: 0, iquery: 1, status: 2, notify: 4, update: 5 };
const DNS_CODES = { noerror: 0, formerr: 1, servfail: 2, nxdomain: 3, notimp: 4, refused: 5, yxdomain: 6, yxrrset: 7, nxrrset: 8, notauth: 9, notzone: 10 };
const DNS_TYPES = {
  a: 1, ns: 2, cname: 5, soa: 6, null: 10, wks: 11, ptr: 12, hinfo: 13, mx: 15, txt: 16, aaaa: 28, srv: 33, naptr: 35, ds: 43, sshfp: 44, rrsig: 46, nsec: 47, dnskey: 48,
  nsec3: 50, tlsa: 52, svcb: 64, https: 65, spf: 99, axfr: 252, any: 255, caa: 257,
};
const HTTP2_FRAMES = { data: 0, headers: 1, priority: 2, rst_stream: 3, settings: 4, push_promise: 5, ping: 6, goaway: 7, window_update: 8, continuation: 9 };
const HTTP2_ERRORS = {
  no_error: 0, protocol_error: 1, internal_error: 2, flow_control_error: 3, settings_timeout: 4, stream_closed: 5, frame_size_error: 6, refused_stream: 7, cancel: 8,
  compression_error: 9, connect_error: 10, enhance_your_calm: 11, inadequate_security: 12, http_1_1_required: 13,
};
const MQTT_TYPES = {
  connect: 1, connack: 2, publish: 3, puback: 4, pubrec: 5, pubrel: 6, pubcomp: 7, subscribe: 8, suback: 9, unsubscribe: 10, unsuback: 11, pingreq: 12, pingresp: 13,
  disconnect: 14, auth: 15,
};
const WEBSOCKET_OPCODES = { continuation: 0, text: 1, binary: 2, connection_close: 8, ping: 9, pong: 10 };

const ROWS: Readonly<Record<string, Row>> = {
  "dsize": ["dsize", 16], "ttl": ["ip.ttl", 8], "id": ["ip.id", 16], "tos": ["ip.tos", 8], "fragoffset": ["ip.fragment-offset", 16],
  "seq": ["tcp.sequence", 32], "tcp.seq": ["tcp.sequence", 32], "ack": ["tcp.acknowledgment", 32], "tcp.ack": ["tcp.acknowledgment", 32], "window": ["tcp.window", 16],
  "tcp.mss": ["tcp.mss", 16], "tcp.wscale": ["tcp.wscale", 8], "itype": ["icmp.type", 8], "icode": ["icmp.code", 8], "icmp_id": ["icmp.id", 16], "icmp_seq": ["icmp.sequence", 16],
  "icmpv6.mtu": ["icmpv6.mtu", 32], "vlan.layers": ["vlan.layers", 8],
  "flow.age": ["flow.age", 32], "flow.pkts_toclient": ["flow.packets.to-client", 32], "flow.pkts_toserver": ["flow.packets.to-server", 32],
  "flow.bytes_toclient": ["flow.bytes.to-client", 64], "flow.bytes_toserver": ["flow.bytes.to-server", 64],
  "filesize": ["file.size", 64, "http http2 smtp ftp-data smb nfs"],
  "dns.opcode": ["dns.opcode", 8, "dns", DNS_OPCODES], "dns.rcode": ["dns.rcode", 16, "dns", DNS_CODES], "dns.rrtype": ["dns.rrtype", 16, "dns", DNS_TYPES],
  "tls.cert_chain_len": ["tls.cert-chain-length", 32, "tls"],
  "snmp.version": ["snmp.version", 32, "snmp"], "snmp.pdu_type": ["snmp.pdu-type", 32, "snmp"],
  "krb5_msg_type": ["krb5.msg-type", 8, "krb5"], "krb5.msg_type": ["krb5.msg-type", 8, "krb5"], "krb5_err_code": ["krb5.error-code", 32, "krb5"], "krb5.err_code": ["krb5.error-code", 32, "krb5"],
  "dhcp.leasetime": ["dhcp.leasetime", 64, "dhcp"], "dhcp.rebinding_time": ["dhcp.rebinding-time", 64, "dhcp"], "dhcp.renewal_time": ["dhcp.renewal-time", 64, "dhcp"],
  "rfb.sectype": ["rfb.sectype", 32, "rfb"], "rfb.secresult": ["rfb.secresult", 32, "rfb", { ok: 0, fail: 1, toomany: 2 }],
  "ike.exchtype": ["ike.exchange-type", 8, "ike"], "ike.key_exchange_payload_length": ["ike.key-exchange-payload-length", 32, "ike"],
  "ike.nonce_payload_length": ["ike.nonce-payload-length", 32, "ike"],
  "nfs_procedure": ["nfs.procedure", 32, "nfs"], "nfs.procedure": ["nfs.procedure", 32, "nfs"], "nfs_version": ["nfs.version", 32, "nfs"], "nfs.version": ["nfs.version", 32, "nfs"],
  "http2.errorcode": ["http2.errorcode", 32, "http2", HTTP2_ERRORS], "http2.priority": ["http2.priority", 8, "http2"], "http2.window": ["http2.window", 32, "http2"],
  "http2.frametype": ["http2.frametype", 8, "http2", HTTP2_FRAMES],
  "mqtt.type": ["mqtt.type", 8, "mqtt", MQTT_TYPES], "mqtt.protocol_version": ["mqtt.protocol-version", 8, "mqtt"], "mqtt.reason_code": ["mqtt.reason-code", 8, "mqtt"],
  "mqtt.connack.return_code": ["mqtt.reason-code", 8, "mqtt"],
  "dnp3_func": ["dnp3.function", 8, "dnp3"], "dnp3.func": ["dnp3.function", 8, "dnp3"], "enip_command": ["enip.command", 16, "enip"], "enip.command": ["enip.command", 16, "enip"],
  "enip.status": ["enip.status", 32, "enip"], "websocket.opcode": ["websocket.opcode", 8, "websocket", WEBSOCKET_OPCODES], "websocket.mask": ["websocket.mask", 32, "websocket"],
  "ldap.request.operation": ["ldap.request.operation", 8, "ldap"], "ldap.responses.operation": ["ldap.responses.operation", 8, "ldap"],
  "ldap.responses.result_code": ["ldap.responses.result-code", 32, "ldap"], "ldap.responses.count": ["ldap.responses.count", 32, "ldap"],
  "ntp.mode": ["ntp.mode", 8, "ntp"], "ntp.stratum": ["ntp.stratum", 8, "ntp"], "ntp.version": ["ntp.version", 8, "ntp"],
};

function numberKeyword([field, bits, applications, words]: Row): Keyword {
  return (draft, value) => {
    const test = parseNumberTest(value, bits, words);
    if (!test) return `cannot read ${value || "nothing"}`;
    draft.conditions.push({ kind: "number", field, test });
    return needApplications(draft, applications?.split(" ") ?? []);
  };
}

const FLOW_SIDES: Readonly<Record<string, string>> = { toclient: ".to-client", toserver: ".to-server" };

/** `flow.pkts` and `flow.bytes`, whose first word is the side. */
function sidedKeyword(field: "flow.packets" | "flow.bytes"): Keyword {
  return (draft, value) => {
    const comma = value.indexOf(",");
    const side = lookUp(FLOW_SIDES, value.slice(0, comma).trim());
    const test = comma < 0 ? null : parseNumberTest(value.slice(comma + 1), 64);
    if (side === undefined || !test) return `cannot read ${value}`;
    draft.conditions.push({ kind: "number", field: `${field}${side === ".to-client" ? ".to-client" : ".to-server"}`, test });
    return null;
  };
}

/** Keywords that compare one number. */
export const NUMBER_KEYWORDS: Readonly<Record<string, Keyword>> = {
  ...Object.fromEntries(Object.entries(ROWS).map(([name, row]) => [name, numberKeyword(row)])),
  "flow.pkts": sidedKeyword("flow.packets"), "flow.bytes": sidedKeyword("flow.bytes"),
};
