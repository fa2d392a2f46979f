import type { FormEvent } from "react";

/** What is in a form, by the names of its fields. Of several with one name, the last. */
export type Fields = Readonly<Record<string, string>>;

/** @returns What a form does when it is sent: hands over its fields, and stays on the page. */
export function withForm(send: (fields: Fields) => void): (event: FormEvent<HTMLFormElement>) => void {
  return (event) => {
    event.preventDefault();
    send(readForm(event.currentTarget));
  };
}

function readForm(form: HTMLFormElement): Fields {
  return Object.fromEntries([...new FormData(form)].flatMap(([name, value]) => (typeof value === "string" ? [[name, value]] : [])));
}
