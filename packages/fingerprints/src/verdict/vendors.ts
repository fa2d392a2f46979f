import type { Reading } from "./decide.ts";

/** Makers who are called by several names, by the first word of each that tells. */
const SAME: Readonly<Record<string, string>> = {
  "hewlett": "hp", "hewlett-packard": "hp", "hpe": "hp", "routerboard": "mikrotik",
  "routerboardcom": "mikrotik", "seiko": "epson", "tp-link": "tplink",
  "d-link": "dlink", "asustek": "asus", "aruba": "hp",
};

/** Words before a maker's name that do not tell. */
const ARTICLES = new Set(["the", "shenzhen", "hangzhou", "zhejiang", "beijing", "guangdong"]);

/** A maker, by the first word of the name that tells: registries spell whole firms, devices what is printed on them. */
export function readVendor(value: string): Reading {
  const words = value.toLowerCase().split(/[\s,()]+/).map((word) => word.replaceAll(/[^a-z0-9-]/g, ""));
  const first = words.find((word) => word !== "" && !ARTICLES.has(word)) ?? value.toLowerCase();
  return { keys: [SAME[first] ?? first], spelled: [value] };
}
