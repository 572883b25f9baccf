"""A chat bot that remembers what its user says, beyond the end of a conversation.

    python3 chat_bot.py                          # the memory is a file in this folder
    python3 chat_bot.py http://127.0.0.1:8080    # the memory is on a server

Type a line and press Enter; Ctrl-D ends. Replies come from a simple rule. If OPENAI_MODEL is set,
they come from that model at OPENAI_BASE_URL, any endpoint with OpenAI's chat protocol.
"""

import os
import sys
from typing import Any

import httpx2

from recollect import Recollect
from recollect_client import Conversation
from recollect_client.models import Recall


def main() -> None:
    server = sys.argv[1] if sys.argv[1:] else None
    with Recollect.connect(server) if server else Recollect.open("chat-bot.db") as memory:
        ann = memory.user("ann")
        talk = ann.conversation()
        for line in filter(None, map(str.strip, sys.stdin)):
            known = ann.recall(line)
            talk.append(line)
            reply = (reply_of_model if "OPENAI_MODEL" in os.environ else reply_by_rule)(talk, known)
            talk.append(reply, role="assistant")
            if not line.endswith("?"):
                ann.remember(line)
            print(f"ann: {line}\nbot: {reply}")


def reply_by_rule(talk: Conversation, known: Recall) -> str:
    """To a question what is remembered about it, the best first; to anything else a nod."""
    [last] = talk.tail(1)
    if not last.text.endswith("?"):
        return "I'll remember that."
    return f"You told me: {known.items[0].content}" if known.items else "You haven't told me yet."


def reply_of_model(talk: Conversation, known: Recall) -> str:
    """What a model says after the last messages. What is remembered is a message before them."""
    orders = "You are a friendly assistant. Answer in one or two sentences."
    messages = [{"role": "system", "content": f"{orders}\n\n{known.context or ''}"}]
    for entry in talk.tail(20):
        role = "assistant" if entry.content[0]["role"] == "AI" else "user"
        messages.append({"role": role, "content": entry.text})
    answer = httpx2.post(
        os.environ.get("OPENAI_BASE_URL", "https://api.openai.com/v1") + "/chat/completions",
        headers={"Authorization": f"Bearer {os.environ.get('OPENAI_API_KEY', 'none')}"},
        json={"model": os.environ["OPENAI_MODEL"], "messages": messages},
        timeout=60,
    )
    answer.raise_for_status()
    reply: Any = answer.json()["choices"][0]["message"]["content"]
    return str(reply)


if __name__ == "__main__":
    main()
