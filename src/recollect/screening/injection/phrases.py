"""Orders to ignore earlier instructions, in languages other than English.

Each line is one order; a few words may stand where it has `…`. Accents and letter case don't
matter.
"""

PHRASES = tuple(
    line.strip()
    for line in """
        ignora…instrucciones…anteriores
        ignora…instrucciones…previas
        ignora…anteriores instrucciones
        olvida…instrucciones…anteriores
        no le digas al usuario
        ignore…instructions précédentes
        ignore…consignes précédentes
        ignore…instructions ci-dessus
        oublie…instructions précédentes
        ne dis pas à l'utilisateur
        ne le dis pas à l'utilisateur
        ignorier…vorherigen anweisungen
        ignorier…bisherigen anweisungen
        ignorier…vorigen anweisungen
        ignorier…obigen anweisungen
        ignorier…früheren anweisungen
        vergiss…vorherigen anweisungen
        vergiss…bisherigen anweisungen
        missachte…anweisungen
        sag dem benutzer nichts
        ignore…instruções anteriores
        ignore…instruções acima
        desconsidere…instruções anteriores
        esqueça…instruções anteriores
        ignora…istruzioni precedenti
        dimentica…istruzioni precedenti
        negeer…vorige instructies
        negeer…eerdere instructies
        negeer…bovenstaande instructies
        vergeet…vorige instructies
        ignorera…tidigare instruktioner
        ignorer…tidligere instruktioner
        ignorer…tidligere instruksjoner
        zignoruj…poprzednie instrukcje
        ignoruj…poprzednie instrukcje
        ignoruj…předchozí pokyny
        önceki…talimatları…yok say
        önceki…talimatları…görmezden gel
        abaikan…instruksi sebelumnya
        bỏ qua…hướng dẫn trước
        bỏ qua…chỉ dẫn trước
        игнорируй…предыдущие инструкции
        игнорируй…прошлые инструкции
        проигнорируй…предыдущие инструкции
        игнорируйте…предыдущие инструкции
        забудь…предыдущие инструкции
        ігноруй…попередні інструкції
        αγνόησε…προηγούμενες οδηγίες
        تجاهل…التعليمات السابقة
        تجاهل…الأوامر السابقة
        התעלם…ההוראות הקודמות
        पिछले…निर्देशों…अनदेखा
        पिछले…निर्देशों…नज़रअंदाज़
        忽略…之前…指令
        忽略…之前…指示
        忽略…以上…指令
        忽略…以上…指示
        忽略…先前…指令
        忽略…先前…指示
        无视…之前…指令
        無視…之前…指令
        忘记…之前…指令
        不要告诉用户
        以前の…指示…無視
        これまでの…指示…無視
        上記の…指示…無視
        前の…命令…無視
        ユーザーに…言わないで
        이전…지시…무시
        이전…명령…무시
        앞의…지시…무시
    """.splitlines()
    if line.strip()
)
"""The core words of each order, as people write them."""
