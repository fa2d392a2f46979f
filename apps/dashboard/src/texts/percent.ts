/** A share as people read it, as `42 %`. @param share 1 for all. @param digits After the point. */
export function percent(share: number, digits = 0): string {
  return `${(share * 100).toFixed(digits)} %`;
}
