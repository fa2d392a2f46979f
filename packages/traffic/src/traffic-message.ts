import type { DhcpTrafficMessage } from "./protocols/dhcp.ts";
import type { DnsTrafficMessage } from "./protocols/dns.ts";
import type { FtpMessage } from "./protocols/ftp.ts";
import type { HttpMessage } from "./protocols/http.ts";
import type { QuicMessage } from "./protocols/quic.ts";
import type { SmbMessage } from "./protocols/smb.ts";
import type { SmtpMessage } from "./protocols/smtp.ts";
import type { SnmpMessage } from "./protocols/snmp.ts";
import type { SshMessage } from "./protocols/ssh.ts";
import type { TlsMessage } from "./protocols/tls.ts";

/**
 * What a flow said, one message at a time; `protocol` tells them apart. Plain objects. Bytes in them are views of memory that is used
 * again: they are good during the call only. No password, community or other credential is in one: a flag says that it was there.
 */
export type TrafficMessage =
  | DhcpTrafficMessage | DnsTrafficMessage | FtpMessage | HttpMessage | QuicMessage | SmbMessage | SmtpMessage | SnmpMessage | SshMessage | TlsMessage;
