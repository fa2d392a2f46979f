/** What is in a form, by the names of its fields. Of several with one name, the last. */
export function readForm(form: HTMLFormElement): Readonly<Record<string, string>> {
  return Object.fromEntries([...new FormData(form)].flatMap(([name, value]) => (typeof value === "string" ? [[name, value]] : [])));
}
