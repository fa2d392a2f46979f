import ipaddr from "ipaddr.js";

/**
 * An address in a spelling whose text order is the numerical order: `4` and 8 hexadecimal digits, or `6` and 32, so that
 * every IPv4 address comes before every IPv6 one. An IPv4-mapped IPv6 address is the IPv4 address. A zone (`%eth0`) is dropped.
 * @returns Empty for what is no address, which sorts first.
 */
export function addressKey(ip: string): string {
  const text = ip.split("%", 1)[0] ?? "";
  const ipv4 = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text);
  if (ipv4) {
    const octets = ipv4.slice(1).map(Number);
    return octets.some((octet) => octet > 255) ? "" : `4${hex(octets)}`;
  }
  if (!ipaddr.IPv6.isValid(text)) return "";
  const address = ipaddr.IPv6.parse(text);
  return address.isIPv4MappedAddress() ? `4${hex(address.toIPv4Address().octets)}` : `6${hex(address.toByteArray())}`;
}

function hex(bytes: readonly number[]): string {
  return bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
