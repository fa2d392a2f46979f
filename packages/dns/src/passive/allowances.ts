/** Domains whose names look as those of tunnels and campaigns do, and are none. */

/** Reputation asked for by name: lists of addresses, of domains and of hashes, and what scanners ask about files. Each is documented by who keeps it. */
const REPUTATION = [
  "spamhaus.org", "spamhaus.net", "surbl.org", "uribl.com", "spamcop.net", "sorbs.net", "barracudacentral.org", "dnswl.org", "mailspike.net", "mailspike.org", "abusix.zone",
  "msbl.org", "senderscore.com", "senderbase.org", "junkemailfilter.com", "uceprotect.net", "dnsbl.info", "nordspam.com", "invaluement.com", "spameatingmonkey.net", "manitu.net",
  "rspamd.com", "cymru.com", "isipp.com", "habeas.com", "truncate.gbudb.net", "gbudb.net", "mailshell.net", "ctmail.com", "dcc-servers.net", "habl.rrbl.de",
] as const;

const ANTIVIRUS = [
  "sophosxl.net", "sophosxl.com", "e5.sk", "eset.com", "mcafee.com", "trellix.com", "trendmicro.com", "kaspersky.com", "kaspersky-labs.com", "bitdefender.net", "bitdefender.com", "avast.com", "avg.com",
  "symantec.com", "norton.com", "webroot.com", "brightcloud.com", "fortiguard.com", "fortinet.net", "paloaltonetworks.com", "cloudsek.com", "f-secure.com", "withsecure.com",
  "avira.com", "gdata.de", "drweb.com", "immunet.com", "cylance.com", "crowdstrike.com", "sentinelone.net",
] as const;

/** Measurements of resolvers by names that are asked for once, and content that is named by its hash. */
const ONCE_ASKED = [
  "dnsleaktest.com", "ipleak.net", "browserleaks.org", "dnscheck.tools", "nextdns.io", "controld.com", "whoami.akamai.net", "dns-oarc.net", "verteiltesysteme.net", "icsi.berkeley.edu",
  "apnic.net", "ripe.net", "gstatic.com", "akahelp.net", "edns-client-subnet.net", "pphosted.com", "agari.com", "vali.email", "ondmarc.com", "dmarcian.com", "spf-protect.com",
] as const;

/** Whose addresses are many and change by design: time, and the first peers of coins. */
const MANY_ADDRESSES = ["ntp.org", "bitcoin.sipa.be", "bluematt.me", "bitcoinstats.com", "petertodd.net", "sprovoost.nl", "emzy.de", "wiz.biz"] as const;

/** Whose public names have private addresses by design: media servers, and tests of developers. */
const PRIVATE_ADDRESSES = ["plex.direct", "localtest.me", "lvh.me", "nip.io", "sslip.io", "traefik.me", "local-ip.co", "local-ip.sh", "ui.direct", "myfritz.net", "synology.me", "direct.quickconnect.to"] as const;

const KNOWN: ReadonlySet<string> = new Set([...REPUTATION, ...ANTIVIRUS, ...ONCE_ASKED, ...MANY_ADDRESSES, ...PRIVATE_ADDRESSES]);
const MAX_LABELS = 16;

/** @param name In lower case. @returns Whether it, or a domain that it is in, is allowed. */
export type Allowed = (name: string) => boolean;

/** @param own Domains that somebody allows, in any letter case, beside those that are known. */
export function createAllowances(own: readonly string[]): Allowed {
  const added: ReadonlySet<string> = new Set(own.map((domain) => domain.toLowerCase().replace(/^\*?\./, "").replace(/\.$/, "")));
  return (name) => {
    let from = 0;
    for (let label = 0; label < MAX_LABELS; label += 1) {
      const domain = from === 0 ? name : name.slice(from);
      if (KNOWN.has(domain) || added.has(domain)) return true;
      const dot = name.indexOf(".", from);
      if (dot < 0) return false;
      from = dot + 1;
    }
    return false;
  };
}
