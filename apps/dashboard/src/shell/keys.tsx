import styles from "./keys.module.css";

/** Keys as they are printed on a keyboard: `g d` one after the other, `mod+k` together. */
export function Keys({ keys }: { readonly keys: string }) {
  const shown = keys.split(/[ +]/).map((key) => (key === "mod" ? "Ctrl" : key.length === 1 ? key.toUpperCase() : key));
  return <span className={styles["keys"]}>{shown.map((key, at) => <kbd key={at}>{key}</kbd>)}</span>;
}
