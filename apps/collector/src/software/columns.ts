import type { Software } from "@lanthorn/contract";

/** How software lies in the tables `ports` and `device_software`; all empty where none is known. */
export interface SoftwareColumns {
  readonly vendor: string;
  readonly product: string;
  readonly product_version: string;
  readonly edition: string;
  readonly distribution: string;
  readonly package_version: string;
  readonly cpe: string;
  /** Part, vendor and product of the CPE, as `a:openbsd:openssh`; empty without a CPE. Indexed, so that a product's devices are found. */
  readonly cpe_key: string;
  readonly software_confidence: number;
}

/** Of a port that nothing has named. */
export const NO_SOFTWARE: SoftwareColumns = {
  vendor: "", product: "", product_version: "", edition: "", distribution: "", package_version: "", cpe: "", cpe_key: "", software_confidence: 0,
};

/** The columns of `SoftwareColumns`, in their order. */
export const SOFTWARE_COLUMNS = Object.keys(NO_SOFTWARE) as readonly (keyof SoftwareColumns)[];

/** What a probe reports, as columns; null is none. */
export function toColumns(software: Software | null): SoftwareColumns {
  if (!software) return NO_SOFTWARE;
  const { vendor, product, version, edition, distribution, package_version, cpe, confidence } = software;
  return { vendor, product, product_version: version, edition, distribution, package_version, cpe, cpe_key: cpeKeyOf(cpe), software_confidence: confidence };
}

/** Columns as the API shows them; null where none is known. */
export function toSoftware(row: SoftwareColumns): Software | null {
  if (row.product === "") return null;
  const { vendor, product, product_version: version, edition, distribution, package_version, cpe, software_confidence: confidence } = row;
  return { vendor, product, version, edition, distribution, package_version, cpe, confidence };
}

/** Whether two rows are about the same software. How sure that is may differ. */
export function isSameSoftware(one: SoftwareColumns, other: SoftwareColumns): boolean {
  return SOFTWARE_COLUMNS.every((column) => column === "software_confidence" || one[column] === other[column]);
}

/** Only the columns of `SoftwareColumns` of a row that has more. */
export function softwareOf(row: SoftwareColumns): SoftwareColumns {
  return Object.fromEntries(SOFTWARE_COLUMNS.map((column) => [column, row[column]])) as unknown as SoftwareColumns;
}

/** @see NISTIR 7695 section 6.2: attributes are separated by colons, and one within an attribute stands behind a backslash. */
function cpeKeyOf(cpe: string): string {
  return cpe === "" ? "" : cpe.split(/(?<!\\):/).slice(2, 5).join(":").toLowerCase();
}
