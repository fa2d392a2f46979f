import { words } from "../texts/words.ts";
/** A choice of a filter. What the address has and the list does not is shown as it is. */
export function Choose({ label, value = "", options, onChange }: {
  readonly label: string; readonly value: string | undefined; readonly options: Readonly<Record<string, string>>; readonly onChange: (value: string) => void;
}) {
  return (
    <select aria-label={label} value={value} onChange={(event) => onChange(event.target.value)} data-set={value !== ""}>
      {!Object.hasOwn(options, value) && <option value={value}>{value}</option>}
      {Object.entries(options).map(([each, text]) => <option key={each} value={each}>{text}</option>)}
    </select>
  );
}

/** Names of the contract as choices, before them the one for all. */
export function choicesOf(names: readonly string[], all: string): Readonly<Record<string, string>> {
  return { "": all, ...Object.fromEntries(names.map((name) => [name, words(name)])) };
}
