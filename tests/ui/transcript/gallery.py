"""A conversation with every construct that a message can have."""

from __future__ import annotations

from typing import Final

ASKED: Final = "Show me everything that you can write, <b>and this</b> stays text: `code`, 1 < 2."
TEXTS: Final = """# A heading of the first level

Plain words with **bold**, *italic*, ***both***, ~~struck out~~, `inline code`, a [link](https://example.org/page) and
a bare one: https://example.org/a_(b). An escaped \\*star\\*, an &amp; and a note.[^1] <kbd>HTML</kbd> is text.

## Lists

1. First
2. Second
   - nested
     - and deeper, with words that are long enough to be wrapped at the end of the column, so that the second line shows
       where the text of the item begins
   - [x] done
   - [ ] open
3. Third

> A quotation with **bold** words.
>
> > One inside it.

---

### A table

| Model | Quant | tok/s | Note |
|:--|:-:|--:|---|
| Qwen3 8B | Q4_K_M | 41.2 | fits |
| SmolLM2 135M | Q8_0 | 1 280.0 | `tiny`, **fast** |

![A picture is its words](https://example.org/picture.png)

[^1]: The note itself, with *style*.
"""
CODE: Final = """Code with a language, code without one, and a line that is too long:

```python
def total(numbers: list[float]) -> float:
    \"\"\"The sum of all.\"\"\"
    return sum(numbers)  # nothing more
```

```
plain
\tindented by a tab
```

1. In a list:
   ```c++ title="x y"
   std::vector<int> values = {1, 2, 3};  // שלום stays in its place
   ```

```sh
curl --silent --show-error --location https://example.org/a/very/long/address/that/does/not/end/soon | sed -e 's/a/b/g'
```
"""
FORMULAS: Final = r"""Inline $E = mc^2$ and \(\sum_{i=1}^{n} i = \frac{n(n+1)}{2}\), at a price of $5 or $10.

$$
\int_{-\infty}^{\infty} e^{-x^2} \, dx = \sqrt{\pi}
$$

\[
\begin{pmatrix} a & b \\ c & d \end{pmatrix}
\]
"""
SCRIPTS: Final = """שלום עולם, זו פסקה שנכתבת מימין לשמאל עם word באמצע.

مرحبا بالعالم، هذه فقرة من اليمين إلى اليسار.

- פריט ברשימה
- item

Left to right with שלום inside it.

你好，世界。これは日本語です。한국어도 있습니다.

Emoji: 👨‍👩‍👧 🇩🇪 👍🏽 ❤️ and combining é ñ Å̂.

```python
name = "שלום"  # مرحبا
```
"""
THOUGHT: Final = "First I think about it.\n\n- one\n- two"
ANSWERS: Final = (TEXTS, CODE, FORMULAS, SCRIPTS)
