/** Resolvers that anybody may use, by the names and addresses that their operators publish. */

/** Names in TLS of those that speak DNS over HTTPS or TLS. */
const NAMES: ReadonlySet<string> = new Set([
  "dns.google", "dns64.dns.google", "8888.google", "cloudflare-dns.com", "one.one.one.one", "1dot1dot1dot1.cloudflare-dns.com", "chrome.cloudflare-dns.com", "mozilla.cloudflare-dns.com",
  "security.cloudflare-dns.com", "family.cloudflare-dns.com", "dns.quad9.net", "dns9.quad9.net", "dns10.quad9.net", "dns11.quad9.net", "doh.opendns.com", "dns.opendns.com", "doh.familyshield.opendns.com",
  "doh.umbrella.com", "dns.umbrella.com", "dns.adguard.com", "dns.adguard-dns.com", "family.adguard-dns.com", "unfiltered.adguard-dns.com", "dns.nextdns.io", "firefox.dns.nextdns.io", "doh.cleanbrowsing.org",
  "freedns.controld.com", "dns.controld.com", "doh.mullvad.net", "dns.mullvad.net", "base.dns.mullvad.net", "doh.dns.sb", "dns.sb", "doh.libredns.gr", "dns.digitale-gesellschaft.ch", "dot1.applied-privacy.net",
  "doh.applied-privacy.net", "dns.switch.ch", "odvr.nic.cz", "doh.ffmuc.net", "dot.ffmuc.net", "dnsforge.de", "dns.alidns.com", "doh.pub", "dot.pub", "doh.360.cn", "dns.twnic.tw", "public.dns.iij.jp",
  "doh.xfinity.com", "dns.njal.la", "anycast.uncensoreddns.org", "dns.quad101.com", "doh.powerdns.org", "dns0.eu", "zero.dns0.eu", "unfiltered.joindns4.eu", "protective.joindns4.eu",
]);
/** Names of which each customer has one. */
const DOMAINS: readonly string[] = [".dns.nextdns.io", ".dns.controld.com", ".cloudflare-gateway.com", ".d.adguard-dns.com"];

const ADDRESSES: ReadonlySet<string> = new Set([
  "8.8.8.8", "8.8.4.4", "2001:4860:4860::8888", "2001:4860:4860::8844", "1.1.1.1", "1.0.0.1", "1.1.1.2", "1.0.0.2", "1.1.1.3", "1.0.0.3", "2606:4700:4700::1111", "2606:4700:4700::1001",
  "9.9.9.9", "149.112.112.112", "9.9.9.10", "9.9.9.11", "2620:fe::fe", "2620:fe::9", "208.67.222.222", "208.67.220.220", "208.67.222.123", "208.67.220.123", "2620:119:35::35", "2620:119:53::53",
  "94.140.14.14", "94.140.15.15", "94.140.14.15", "94.140.15.16", "185.228.168.9", "185.228.169.9", "185.228.168.168", "185.228.169.168", "76.76.2.0", "76.76.10.0", "45.90.28.0", "45.90.30.0",
  "64.6.64.6", "64.6.65.6", "4.2.2.1", "4.2.2.2", "77.88.8.8", "77.88.8.1", "223.5.5.5", "223.6.6.6", "119.29.29.29", "114.114.114.114", "193.110.81.0", "185.253.5.0",
]);

/** @param name In lower case. */
export function isEncryptedResolver(name: string): boolean {
  return NAMES.has(name) || DOMAINS.some((domain) => name.endsWith(domain));
}

/** @param address As text. */
export function isPublicResolver(address: string): boolean {
  return ADDRESSES.has(address);
}
