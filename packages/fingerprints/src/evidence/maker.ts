import { ANSWER_RULES, readAnswer } from "../rules/answers.ts";
import { applyRules } from "../rules/rule.ts";
import { type DeviceClaim, deviceClaims } from "./device-claims.ts";

const MAKER_CONFIDENCE = 0.7;

/**
 * What the maker of a network interface says of the device. The maker of the whole is known where he makes no parts for others.
 * @param vendor As the registry spells him; empty says nothing.
 */
export function readMaker(vendor: string): readonly DeviceClaim[] {
  if (vendor === "") return [];
  const said = applyRules(ANSWER_RULES.oui, vendor);
  const maker: readonly DeviceClaim[] = said !== null && said.vendor === ""
    ? []
    : [{ field: "vendor", value: vendor, source: "oui", confidence: MAKER_CONFIDENCE }];
  return [...maker, ...deviceClaims(readAnswer("oui", vendor))];
}
