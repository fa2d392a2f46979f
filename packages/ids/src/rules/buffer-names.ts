/**
 * Buffers that rules look into, under the names of their sticky buffers; other spellings are resolved to these.
 * @see https://docs.suricata.io/en/latest/rules/ and its chapters on each protocol.
 */

/** Where a buffer comes from. */
export interface BufferFacts {
  /** Protocols of the application that have it; empty for bytes of packets and streams. */
  readonly applications: readonly string[];
  /** Which side's bytes it holds. */
  readonly direction: "to-server" | "to-client" | "any";
  /** One transaction may have several, each inspected alone: a rule that names it twice asks for two matches, in any of them. */
  readonly isMultiple: boolean;
}

type Row = readonly [direction: BufferFacts["direction"], names: string];

/** Protocols of the application (`http` is HTTP/1) → their buffers, by direction. A name with `*` may come several times in a transaction. */
const ROWS = {
  "": [["any", "payload base64_data tcp.hdr udp.hdr ipv4.hdr ipv6.hdr icmpv4.hdr icmpv6.hdr"]],
  "http http2": [
    ["to-server", "http.uri http.uri.raw http.method http.request_line http.request_body http.user_agent http.host http.host.raw http.accept http.accept_lang http.accept_enc http.referer *http.request_header"],
    ["to-client", "http.stat_code http.stat_msg http.response_line http.response_body http.server http.location *http.response_header"],
    ["any", "http.header http.header.raw http.header_names http.cookie http.connection http.content_type http.content_len http.start http.protocol"],
  ],
  "http2": [["any", "*http2.header_name"]],
  "http http2 smtp ftp-data smb nfs": [["any", "file.data *file.name"]],
  "dns": [
    ["to-server", "*dns.query"],
    ["to-client", "*dns.response.rrname"],
    ["any", "*dns.queries.rrname *dns.answers.rrname *dns.authorities.rrname *dns.additionals.rrname"],
  ],
  "mdns": [["any", "*mdns.queries.rrname *mdns.answers.rrname *mdns.authorities.rrname *mdns.additionals.rrname *mdns.response.rrname"]],
  "tls": [
    ["to-server", "tls.sni"],
    ["any", "tls.cert_subject tls.cert_issuer tls.cert_serial tls.cert_fingerprint *tls.certs *tls.subjectaltname tls.random tls.random_time tls.random_bytes *tls.alpn"],
  ],
  "tls quic": [["to-server", "ja3.hash ja3.string ja4.hash"], ["to-client", "ja3s.hash ja3s.string"]],
  "quic": [["to-server", "quic.sni quic.ua *quic.cyu.hash *quic.cyu.string"], ["any", "quic.version"]],
  "ssh": [
    ["any", "ssh.proto ssh.software"], ["to-server", "ssh.hassh ssh.hassh.string"], ["to-client", "ssh.hassh.server ssh.hassh.server.string"],
  ],
  "smtp": [
    ["to-server", "smtp.helo smtp.mail_from *smtp.rcpt_to"],
    ["any", "email.from email.subject email.to email.cc email.date email.message_id email.x_mailer *email.url *email.received email.body_md5"],
  ],
  "ftp": [["to-server", "ftp.command ftp.command_data"], ["to-client", "*ftp.reply *ftp.completion_code"]],
  "smb": [["to-server", "smb.named_pipe smb.share smb.ntlmssp_user smb.ntlmssp_domain"]],
  "dcerpc smb": [["any", "dcerpc.stub_data"]],
  "krb5": [["to-client", "*krb5.cname *krb5.sname"]],
  "snmp": [["any", "snmp.community snmp.usm"]],
  "rfb": [["to-client", "rfb.name"]],
  "sip": [
    ["to-server", "sip.method sip.uri sip.request_line"],
    ["to-client", "sip.stat_code sip.stat_msg sip.response_line"],
    ["any", "sip.protocol *sip.from *sip.to *sip.via *sip.user_agent *sip.content_type *sip.content_length sip.sdp.session_name sip.sdp.session_info sip.sdp.origin sip.sdp.uri sip.sdp.email sip.sdp.phone_number sip.sdp.connection_data *sip.sdp.bandwidth *sip.sdp.time *sip.sdp.repeat_time sip.sdp.timezone sip.sdp.encryption_key *sip.sdp.attribute *sip.sdp.media.media *sip.sdp.media.media_info *sip.sdp.media.connection_data *sip.sdp.media.encryption_key"],
  ],
  "mqtt": [
    ["to-server", "mqtt.connect.clientid mqtt.connect.username mqtt.connect.password mqtt.connect.willtopic mqtt.connect.willmessage mqtt.connect.protocol_string *mqtt.subscribe.topic *mqtt.unsubscribe.topic"],
    ["any", "mqtt.publish.topic mqtt.publish.message"],
  ],
  "ike": [["to-server", "ike.init_spi"], ["to-client", "ike.resp_spi"], ["any", "ike.nonce_payload ike.key_exchange_payload *ike.vendor"]],
  "pgsql": [["to-server", "pgsql.query"]],
  "ldap": [
    ["to-server", "ldap.request.dn *ldap.request.attribute_type"], ["to-client", "*ldap.responses.dn *ldap.responses.message *ldap.responses.attribute_type"],
  ],
  "websocket": [["any", "websocket.payload"]],
  "enip": [["to-client", "enip.product_name enip.service_name"]],
  "dnp3": [["any", "dnp3.data"]],
  "ntp": [["any", "ntp.reference_id"]],
} as const satisfies Readonly<Record<string, readonly Row[]>>;

type Words<T extends string> = T extends `${infer Head} ${infer Tail}` ? Head | Words<Tail> : T;
type WithoutMark<T extends string> = T extends `*${infer Name}` ? Name : T;

/** A buffer of the table. `payload` is what a packet or a stream carries, `base64_data` what this rule's `base64_decode` decoded. */
export type BufferName = WithoutMark<Words<(typeof ROWS)[keyof typeof ROWS][number][1]>>;

/** Every buffer that rules may name, whether or not this engine fills it. */
export const BUFFER_FACTS: ReadonlyMap<string, BufferFacts & { readonly name: BufferName }> = new Map(
  Object.entries(ROWS).flatMap(([applications, rows]: readonly [string, readonly Row[]]) => rows.flatMap(([direction, names]) => names.split(" ").map((word) => {
    const name = word.replace("*", "") as BufferName;
    return [name, { name, applications: applications === "" ? [] : applications.split(" "), direction, isMultiple: word.startsWith("*") }] as const;
  }))),
);
