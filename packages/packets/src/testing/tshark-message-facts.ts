/** What our decoders say of DHCP and DNS messages, in the words of tshark's fields. For tests only. */
import type { DhcpMessage } from "../dhcp/dhcp.ts";
import * as dhcp from "../dhcp/dhcp-values.ts";
import type { DnsMessage, DnsRecord } from "../dns/dns.ts";
import { splitDnsName } from "../dns/dns-name.ts";
import { DNS_TYPE } from "../dns/dns-records.ts";
import { decodeUtf8 } from "../text.ts";
import type { Add } from "./facts.ts";

/** The fields of `dhcp.` */
export function addDhcp(add: Add, message: DhcpMessage): void {
  const { options } = message;
  add("dhcp.type", message.op);
  add("dhcp.id", message.xid);
  add("dhcp.secs", message.secs);
  add("dhcp.flags", message.flags);
  add("dhcp.ip.client", message.ciaddr);
  add("dhcp.ip.your", message.yiaddr);
  add("dhcp.ip.server", message.siaddr);
  add("dhcp.ip.relay", message.giaddr);
  if (message.htype === 1) add("dhcp.hw.mac_addr", message.chaddr);
  const client = dhcp.dhcpClientIdentifier(options);
  if (client?.type === 1) add("dhcp.hw.mac_addr", client.identifier);
  add("dhcp.option.type", ...options.keys());
  add("dhcp.option.dhcp", dhcp.dhcpMessageType(options));
  add("dhcp.option.hostname", dhcp.dhcpHostName(options));
  add("dhcp.option.domain_name", dhcp.dhcpDomainName(options));
  add("dhcp.option.vendor_class_id", dhcp.dhcpVendorClass(options));
  add("dhcp.option.request_list_item", ...(dhcp.dhcpParameterList(options) ?? []));
  add("dhcp.option.requested_ip_address", dhcp.dhcpRequestedAddress(options));
  add("dhcp.option.dhcp_server_id", dhcp.dhcpServerIdentifier(options));
  add("dhcp.option.ip_address_lease_time", dhcp.dhcpLeaseSeconds(options));
  add("dhcp.option.router", ...(dhcp.dhcpRouters(options) ?? []));
  add("dhcp.option.domain_name_server", ...(dhcp.dhcpNameServers(options) ?? []));
  add("dhcp.fqdn.name", dhcp.dhcpClientFqdn(options)?.name ?? null);
  add("dhcp.option.agent_information_option.suboption", ...(dhcp.dhcpRelayAgent(options)?.keys() ?? []));
}

/** tshark writes names without escapes. */
function nameText(name: string): string {
  return name === "." ? "<Root>" : splitDnsName(name).join(".");
}

/** The fields of `dns.` */
export function addDns(add: Add, message: DnsMessage): void {
  add("dns.id", message.id);
  add("dns.flags.response", message.isResponse);
  add("dns.flags.opcode", message.opcode);
  add("dns.flags.truncated", message.isTruncated);
  add("dns.flags.recdesired", message.isRecursionDesired);
  if (message.isResponse) {
    add("dns.flags.authoritative", message.isAuthoritative);
    add("dns.flags.recavail", message.isRecursionAvailable);
    add("dns.flags.rcode", message.responseCode);
  }
  for (const { name, type } of message.questions) {
    add("dns.qry.name", nameText(name));
    add("dns.qry.type", type);
  }
  for (const record of [...message.answers, ...message.authorities, ...message.additionals]) addDnsRecord(add, record);
}

function addDnsRecord(add: Add, { name, type, ttlSeconds, data, ...record }: DnsRecord): void {
  if (data.kind !== "srv") add("dns.resp.name", nameText(name));
  add("dns.resp.type", type);
  if (type !== DNS_TYPE.opt) add("dns.resp.ttl", ttlSeconds);
  switch (data.kind) {
    case "address":
      return add(type === DNS_TYPE.a ? "dns.a" : "dns.aaaa", data.address);
    case "name":
      return add(NAME_FIELDS[type] ?? "", nameText(data.name));
    case "soa":
      add("dns.soa.mname", nameText(data.mname));
      add("dns.soa.rname", nameText(data.rname));
      return add("dns.soa.serial_number", data.serial);
    case "mx":
      add("dns.mx.preference", data.preference);
      return add("dns.mx.mail_exchange", nameText(data.exchange));
    case "txt":
      return add("dns.txt", ...data.strings.map(decodeUtf8));
    case "srv": {
      // tshark takes the owner's name apart, at its dots.
      const [service = "", protocol = "", ...rest] = nameText(name).split(".");
      add("dns.srv.service", service);
      add("dns.srv.proto", protocol);
      add("dns.srv.name", rest.join("."));
      for (const field of ["priority", "weight", "port"] as const) add(`dns.srv.${field}`, data[field]);
      return add("dns.srv.target", nameText(data.target));
    }
    case "nsec":
      // The types of the bitmap go by the name of the record's own.
      add("dns.resp.type", ...data.types);
      return add("dns.nsec.next_domain_name", nameText(data.nextName));
    case "opt":
      add("dns.rr.udp_payload_size", record.class);
      return add("dns.opt.code", ...data.options.map(({ code }) => code));
    case "svcb":
      add("dns.svcb.svcpriority", data.priority);
      return add("dns.svcb.targetname", nameText(data.target));
    case "bytes":
  }
}

const NAME_FIELDS: Readonly<Record<number, string>> = {
  [DNS_TYPE.ns]: "dns.ns", [DNS_TYPE.cname]: "dns.cname", [DNS_TYPE.ptr]: "dns.ptr.domain_name",
};
