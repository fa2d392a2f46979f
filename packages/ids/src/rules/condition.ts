/** Facts of packets, flows and transactions that rules ask for, beside bytes of buffers. */

/** A number compared. `between` leaves both ends out, so that `outside` has them in; `mask` compares what is left of the number under it. */
export type NumberTest =
  | { readonly operator: "=" | "!=" | "<" | "<=" | ">" | ">="; readonly value: number }
  | { readonly operator: "between" | "outside"; readonly low: number; readonly high: number }
  | { readonly operator: "mask" | "not-mask"; readonly mask: number; readonly value: number };

/** A number that rules ask for: of the packet, the flow, or the application's transaction. */
export type NumberField =
  // Packets.
  | "dsize" | "ip.ttl" | "ip.id" | "ip.tos" | "ip.protocol" | "ip.fragment-offset" | "tcp.sequence" | "tcp.acknowledgment" | "tcp.window" | "tcp.mss" | "tcp.wscale"
  | "icmp.type" | "icmp.code" | "icmp.id" | "icmp.sequence" | "icmpv6.mtu" | "vlan.layers"
  // Flows.
  | "flow.age" | "flow.packets" | "flow.packets.to-client" | "flow.packets.to-server" | "flow.bytes" | "flow.bytes.to-client" | "flow.bytes.to-server"
  // Transactions.
  | "file.size" | "dns.opcode" | "dns.rcode" | "dns.rrtype" | "http.urilen" | "tls.cert-chain-length" | "tls.days-valid" | "snmp.version" | "snmp.pdu-type" | "krb5.msg-type"
  | "krb5.error-code" | "dhcp.leasetime" | "dhcp.rebinding-time" | "dhcp.renewal-time" | "rfb.sectype" | "rfb.secresult" | "ike.exchange-type" | "ike.key-exchange-payload-length"
  | "ike.nonce-payload-length" | "ike.chosen-sa" | "nfs.procedure" | "nfs.version" | "http2.errorcode" | "http2.priority" | "http2.window"
  | "http2.frametype" | "http2.settings" | "mqtt.type" | "mqtt.protocol-version" | "mqtt.reason-code" | "modbus.function" | "modbus.unit" | "dnp3.function" | "dnp3.indications"
  | "enip.command" | "enip.status" | "websocket.opcode" | "websocket.mask" | "ldap.request.operation" | "ldap.responses.operation" | "ldap.responses.result-code" | "ldap.responses.count"
  | "ntp.mode" | "ntp.stratum" | "ntp.version" | "sip.stat-code" | "quic.version";

/** `flags`: bits of TCP's flags. FIN 1, SYN 2, RST 4, PSH 8, ACK 16, URG 32, ECE 64, CWR 128. */
export interface TcpFlagsCondition {
  readonly kind: "tcp-flags";
  /** After `ignored` is taken out: exactly `bits`, all of them at least, any of them, or not all of them. */
  readonly operator: "exactly" | "all" | "any" | "not";
  readonly bits: number;
  readonly ignored: number;
}

/** `fragbits`: M 1 (more fragments), D 2 (don't fragment), R 4 (reserved). */
export interface FragmentBitsCondition {
  readonly kind: "fragment-bits";
  readonly operator: "exactly" | "all" | "any" | "not";
  readonly bits: number;
}

/** `ipopts`: an option is in the header of IPv4; `any` for one whichever. */
export interface IpOptionCondition {
  readonly kind: "ip-option";
  readonly option: "rr" | "lsrr" | "eol" | "nop" | "ts" | "sec" | "esec" | "ssrr" | "satid" | "any";
}

/** `vlan.id`, of one layer or any. */
export interface VlanCondition {
  readonly kind: "vlan-id";
  /** 0 is the outermost, -1 the innermost. */
  readonly layer: number | "any" | "all";
  readonly test: NumberTest;
}

/** `stream_size`: bytes of TCP that went by, by sequence numbers. */
export interface StreamSizeCondition {
  readonly kind: "stream-size";
  readonly side: "server" | "client" | "both" | "either";
  readonly operator: "=" | "!=" | "<" | "<=" | ">" | ">=";
  readonly value: number;
}

/** An event that Suricata's own decoders, streams or parsers raise, as `http.missing_host_header` or `ipv4.trunc_pkt`. */
export interface EventCondition {
  readonly kind: "event";
  readonly layer: "application" | "decoder" | "stream" | "engine";
  readonly event: string;
}

/** `app-layer-protocol`: the protocol that was recognized. */
export interface ApplicationCondition {
  readonly kind: "application";
  /** `failed` where nothing was recognized, `unknown` as long as it is not known. */
  readonly application: string;
  readonly isNegated: boolean;
  readonly side: "final" | "either" | "original" | "to-server" | "to-client" | "direction";
}

/** A word that the application's transaction has, with what is asked of it: `tls.version` is `1.2`, `ssl_state` is `client_hello`. */
export interface WordCondition {
  readonly kind: "word";
  readonly field:
    | "tls.version" | "ssl.version" | "ssl.state" | "ftp.data-command" | "dcerpc.interface" | "dcerpc.operation" | "rpc" | "smb.version" | "mqtt.flags" | "mqtt.connect-flags"
    | "mqtt.connack-session-present" | "websocket.flags" | "modbus" | "dnp3.object" | "cip.service" | "krb5.ticket-encryption";
  /** Any of them will do. */
  readonly words: readonly string[];
  readonly isNegated: boolean;
}

/** `tls_cert_notbefore`, `tls_cert_notafter`: seconds since 1970. */
export interface TlsTimeCondition {
  readonly kind: "tls-time";
  readonly field: "not-before" | "not-after";
  readonly test: NumberTest;
}

/** What holds, or not, without a value: `sameip`, `ftpbounce`, `tls_cert_expired`, `tls_cert_valid`. */
export interface FactCondition {
  readonly kind: "fact";
  readonly fact: "same-ip" | "ftp-bounce" | "tls.cert-expired" | "tls.cert-valid";
  readonly isNegated: boolean;
}

/** One number of `NumberField`. */
export interface NumberCondition {
  readonly kind: "number";
  readonly field: NumberField;
  readonly test: NumberTest;
}

/** A fact that must hold beside the bytes. */
export type Condition =
  | NumberCondition | TcpFlagsCondition | FragmentBitsCondition | IpOptionCondition | VlanCondition | StreamSizeCondition | EventCondition | ApplicationCondition
  | WordCondition | TlsTimeCondition | FactCondition;
